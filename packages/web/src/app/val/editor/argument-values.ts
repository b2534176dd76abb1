import type { CallParameter } from "../../../editor/type-service/protocol.ts"

/**
 * The arguments in the text of the JSON field: an array is all of them, another value is the first.
 * Undefined for text that is not JSON.
 */
export function readArguments(text: string): readonly unknown[] | undefined {
  if (text.trim() === "") return []
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  } catch {
    return undefined
  }
}

/**
 * The text with another value for one argument. Undefined removes it; before other arguments it is
 * null, because JSON has nothing else for it.
 */
export function replaceArgument(text: string, index: number, value: unknown): string {
  const values: unknown[] = [...(readArguments(text) ?? [])]
  while (values.length <= index) values.push(undefined)
  values[index] = value
  while (values.length > 0 && values.at(-1) === undefined) values.pop()
  return values.length === 0 ? "" : JSON.stringify(values.map((one) => one ?? null))
}

/** The text of the fields for all further arguments, as for other fields with JSON. */
export function replaceRest(text: string, index: number, rest: readonly unknown[]): string {
  const values = (readArguments(text) ?? []).slice(0, index)
  while (rest.length > 0 && values.length < index) values.push(null)
  const all = [...values, ...rest]
  return all.length === 0 ? "" : JSON.stringify(all)
}

/** What a field shows for an argument. */
export function toFieldText(
  { field, isRest }: CallParameter,
  values: readonly unknown[],
  index: number,
): string {
  const value = isRest ? values.slice(index) : values[index]
  if (value === undefined || value === null || (isRest && index >= values.length)) return ""
  return field.kind === "json" || typeof value === "object" ? JSON.stringify(value) : String(value)
}

/** What the text of a field means. Undefined for no argument. */
export function readField(
  { field, isOptional }: CallParameter,
  text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  if (field.kind === "text")
    return { ok: true, value: text === "" && isOptional ? undefined : text }
  if (text.trim() === "") return { ok: true, value: undefined }
  if (field.kind === "choice")
    return { ok: true, value: field.values.find((value) => String(value) === text) }
  if (field.kind === "boolean") return { ok: true, value: text === "true" }
  if (field.kind === "number")
    return Number.isFinite(Number(text)) ? { ok: true, value: Number(text) } : { ok: false }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return { ok: false }
  }
}
