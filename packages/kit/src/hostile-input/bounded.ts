import { isUtf8 } from "node:buffer"

/**
 * Functions that multiply their input, or that are slow on hostile input, with a limit. On the main
 * thread they are called from here only, which `npm run check` enforces
 * (`scripts/tidy/bounded-calls.ts`).
 *
 * A limit is what the main thread can do in a few milliseconds. Larger input belongs on a thread
 * (`../threads/worker-pool.ts`). Checking a limit costs one comparison.
 */

/** The input, or the result, is longer than the limit. */
export class TooLongError extends RangeError {
  constructor(chars: number, charsMax: number) {
    super(`has ${chars} characters, and ${charsMax} are allowed`)
  }
}

function assertChars(chars: number, charsMax: number): void {
  if (chars > charsMax) throw new TooLongError(chars, charsMax)
}

/** `JSON.parse`. 32,768 characters of small values take 1 ms, 1,000,000 take 50 ms. */
export function parseJson(text: string, charsMax: number) {
  assertChars(text.length, charsMax)
  return JSON.parse(text)
}

/**
 * `JSON.parse` of text that this server or one of its own programs has written, such as a column of
 * a row: its parts were limited when they came in.
 */
export function parseOwnJson(text: string) {
  return JSON.parse(text)
}

/**
 * `JSON.stringify` of a record of this server, of which each part was limited when it came in. A value
 * of a user whose size is not known belongs on a thread: only writing it shows how long it is.
 */
export function toOwnJson(value: unknown): string {
  return JSON.stringify(value)
}

/** `decodeURIComponent`. Throws a URIError for an invalid escape. */
export function decodePercent(text: string, charsMax: number): string {
  assertChars(text.length, charsMax)
  return decodeURIComponent(text)
}

/**
 * Decodes each run of escapes that is valid UTF-8 and keeps the others as they are, without an
 * exception for each.
 */
export function decodeValidPercents(text: string, charsMax: number): string {
  assertChars(text.length, charsMax)
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => {
    const bytes = Buffer.from(run.replaceAll("%", ""), "hex")
    return isUtf8(bytes) ? bytes.toString() : run
  })
}

/** `replaceAll`. `charsMax` is of the text, so the result is as many times longer as one replacement. */
export function replaceEach(
  text: string,
  searched: string | RegExp,
  replacement: string | ((found: string, ...groups: string[]) => string),
  charsMax: number,
): string {
  assertChars(text.length, charsMax)
  return text.replaceAll(searched, replacement as string)
}

/** `repeat`, with a limit for the result. */
export function repeatText(text: string, count: number, charsMax: number): string {
  assertChars(text.length * count, charsMax)
  return text.repeat(count)
}

/** `RegExp`. The time that a pattern takes depends on it: values of users are escaped first. */
export function toRegExp(source: string, flags: string, charsMax: number): RegExp {
  assertChars(source.length, charsMax)
  return new RegExp(source, flags)
}
