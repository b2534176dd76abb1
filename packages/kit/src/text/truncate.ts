import { toOwnJson } from "../hostile-input/bounded.ts"
import type { Mask } from "../mask/secret-mask.ts"

/** An error as it is kept and shown. */
export interface ErrorText {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * The text, or as much of its start as fits, followed by a mark with the original length. A text
 * that was truncated before is not truncated again.
 */
export function truncateText(text: string, bytesMax: number): string {
  if (fits(text, bytesMax)) return text
  const mark = findMark(text)
  if (mark !== undefined && fits(text.slice(0, mark), bytesMax)) return text
  return `${toStart(text, bytesMax)}${toMark(Buffer.byteLength(text))}`
}

/** Truncates a text whose secrets are masked, including a secret that crosses the cut. */
export function truncateMasked(text: string, bytesMax: number, mask: Mask): string {
  if (fits(text, bytesMax)) return truncateText(mask.hide(text), bytesMax)
  const end = Math.floor(bytesMax)
  const isHalf = isHighSurrogate(text.charCodeAt(end - 1))
  return `${toStart(mask.hide(text, isHalf ? end - 1 : end), bytesMax)}${toMark(Buffer.byteLength(text))}`
}

/**
 * The value, or if its JSON is too long, the start of it as a string: a value with parts missing
 * would look like another value. A value without JSON becomes null.
 */
export function truncateValue(value: unknown, bytesMax: number): unknown {
  return truncateMeasured(value, bytesMax).value
}

/**
 * Truncates a value like `truncateValue`, and returns the number of characters of the result's
 * JSON.
 */
export function truncateMeasured(
  value: unknown,
  bytesMax: number,
): { readonly value: unknown; readonly chars: number } {
  if (value === null || value === undefined) return { value: null, chars: 0 }
  const text = typeof value === "string" ? value : toJson(value)
  if (text === undefined) return { value: null, chars: 0 }
  if (typeof value !== "string" && fits(text, bytesMax)) return { value, chars: text.length }
  const cut = truncateText(text, bytesMax)
  return { value: cut, chars: cut.length }
}

/** Truncates the parts of an error so that the total is within the limit, and masks secrets. */
export function truncateError(error: ErrorText, bytesMax: number, mask?: Mask): ErrorText {
  const cut = (text: string, partMax: number) =>
    mask ? truncateMasked(text, partMax, mask) : truncateText(text, partMax)
  const name = cut(error.name, bytesMax / 10)
  const message = cut(error.message, bytesMax * 0.4)
  return error.stack === undefined
    ? { name, message }
    : { name, message, stack: cut(error.stack, bytesMax * 0.4) }
}

/** Undefined for values that have no JSON, such as cycles and bigints. */
function toJson(value: unknown): string | undefined {
  try {
    return toOwnJson(value)
  } catch {
    return undefined
  }
}

/** A UTF-16 unit takes at most three bytes in UTF-8, so short texts need not be measured. */
function fits(text: string, bytesMax: number): boolean {
  return (
    text.length * 3 <= bytesMax || (text.length <= bytesMax && Buffer.byteLength(text) <= bytesMax)
  )
}

function toMark(bytes: number): string {
  return `… (cut, ${bytes} bytes in all)`
}

const markCharsMax = toMark(Number.MAX_SAFE_INTEGER).length

/** The index of the mark at the end of the text. */
function findMark(text: string): number | undefined {
  const from = Math.max(0, text.length - markCharsMax)
  const index = text.slice(from).search(/… \(cut, \d+ bytes in all\)$/)
  return index < 0 ? undefined : from + index
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** The start of the text, without a partial character at the end. */
function toStart(text: string, bytesMax: number): string {
  const bytes = new Uint8Array(Math.floor(bytesMax))
  const { written } = encoder.encodeInto(text, bytes)
  return decoder.decode(bytes.subarray(0, written))
}
