/** A value that JSON.parse returns. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object; a missing key reads as undefined. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
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
