/** A value that JSON.parse returns. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object; a missing key reads as undefined. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** The value if it is a JSON object, else an empty one. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** Whether the value is a JSON object, and neither an array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** The value if it is an array, else an empty one. */
export function asList(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : []
}

/** The value if it is a string, else an empty one. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : ""
}

/** Parses JSON text; undefined when it is invalid. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Whether a content type is JSON. */
export function isJsonType(contentType: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(contentType)
}
