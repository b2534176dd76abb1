import type { RunError } from "./runs.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The text, or as much of its beginning as fits, with a mark that says how long it was. */
export function cutText(text: string, bytesMax: number): string {
  // No character takes more than three bytes for each of its units, so that short texts need not be measured.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text
  return `${toStart(text, bytesMax)}${toMark(Buffer.byteLength(text))}`
}

/**
 * The value, or where its JSON is too long the beginning of it as a text: a value with a piece missing would look like another value.
 * What has no JSON becomes null.
 */
export function cutValue(value: unknown, bytesMax: number): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === "string") return cutText(value, bytesMax)
  const json = toJson(value)
  if (json === undefined) return null
  return json.length * 3 <= bytesMax || Buffer.byteLength(json) <= bytesMax ? value : cutText(json, bytesMax)
}

/** The error with its parts cut, so that together they are within the limit. */
export function cutError(error: RunError, bytesMax: number): RunError {
  const name = cutText(error.name, bytesMax / 10)
  const message = cutText(error.message, bytesMax * 0.4)
  return error.stack === undefined ? { name, message } : { name, message, stack: cutText(error.stack, bytesMax * 0.4) }
}

/** Cycles and numbers without JSON come from no client, but a value may have gone through other hands. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function toMark(bytes: number): string {
  return `… (cut, ${bytes} bytes in all)`
}

/** Ends before the character that does not fit whole. */
function toStart(text: string, bytesMax: number): string {
  const bytes = new Uint8Array(Math.floor(bytesMax))
  const { written } = encoder.encodeInto(text, bytes)
  return decoder.decode(bytes.subarray(0, written))
}
