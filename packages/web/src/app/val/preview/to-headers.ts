import { parseHeaders } from "./parse-headers.ts"
import type { TypedRequest } from "./request-history.ts"

/** The headers of a typed request. A JSON body without a content type is sent as JSON. */
export function toHeaders({
  headers,
  body,
}: Pick<TypedRequest, "headers" | "body">): [string, string][] {
  const typed = parseHeaders(headers)
  return needsJsonType({ headers, body }) ? [...typed, ["content-type", "application/json"]] : typed
}

/** Whether the body is an object or an array as JSON, and no header says what it is. */
export function needsJsonType({ headers, body }: Pick<TypedRequest, "headers" | "body">): boolean {
  return !/^\s*content-type\s*:/im.test(headers) && isJson(body)
}

function isJson(text: string): boolean {
  // Numbers and words are JSON too, but may be any text.
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
