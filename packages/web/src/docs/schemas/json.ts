/** What JSON.parse gives. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object; a key that is not there reads as undefined. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/**
 * The value if it is a JSON object, else an empty one: what the description lacks is shown as
 * absent, it never throws.
 */
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

/** The value if it is text, else the empty text. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : ""
}

/** The value of JSON text, or undefined where it is none. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
