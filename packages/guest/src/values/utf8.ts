import { stringCharCodeAt, stringSlice } from "../primordials.ts"

/** The length of `text` in UTF-8 bytes. */
export function countBytes(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1)
    bytes += countMore(stringCharCodeAt(text, index))
  return bytes
}

/** The start of `text` that fits into `bytesMax` bytes, without a partial character. */
export function truncateToBytes(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text
  let bytes = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = stringCharCodeAt(text, index)
    bytes += 1 + countMore(code)
    if (bytes > bytesMax)
      return stringSlice(text, 0, index > 0 && isLowSurrogate(code) ? index - 1 : index)
  }
  return text
}

/** The UTF-8 bytes of a UTF-16 unit beyond the first. A surrogate is half of four bytes. */
function countMore(code: number): number {
  if (code < 0x80) return 0
  return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
