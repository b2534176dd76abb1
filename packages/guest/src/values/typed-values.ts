import { bare, DateCtor, FileCtor, fromBase64, isArray, objectKeys } from "../primordials.ts"

/**
 * Replaces, anywhere in the arguments of a call, `{ $date }` by a Date and `{ $file }` by a File.
 * The server has made the arguments, but they contain texts and names from elsewhere: an object only
 * counts with one property of exactly this kind.
 */
export function decodeTyped(value: object): void {
  const keys = objectKeys(value)
  const record = value as Record<string, unknown>
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    const part = record[key]
    if (typeof part !== "object" || part === null) continue
    const decoded = decodeOne(part)
    if (decoded === undefined) decodeTyped(part)
    else record[key] = decoded
  }
}

interface FileText {
  readonly name: string
  readonly type: string
  readonly base64: string
}

function decodeOne(value: object): Date | File | undefined {
  if (isArray(value)) return undefined
  const keys = objectKeys(value)
  if (keys.length !== 1) return undefined
  const { $date, $file } = value as { $date?: unknown; $file?: unknown }
  if (keys[0] === "$date" && typeof $date === "number") return new DateCtor($date)
  if (keys[0] !== "$file" || typeof $file !== "object" || $file === null) return undefined
  const { name, type, base64 } = $file as FileText
  return new FileCtor([fromBase64(base64)], name, bare({ type }))
}
