/** Headers with names in lower case. A name may occur more than once. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** The headers of a message, and the framing of its body. */
export interface HeaderLines {
  readonly headers: HeaderList
  /** The value of the first `content-length`. */
  readonly length: string | undefined
  /** How many `content-length` headers there are. */
  readonly lengths: number
  readonly coding: string | undefined
  /** False when the connection is closed after the message. */
  readonly isKept: boolean
}

const lengthPattern = /^\d{1,15}$/
const tab = 9
const space = 32
const del = 127
const colon = 58

/**
 * Maps the code of a character to the code of its lower case, or to 0 if a header name cannot
 * contain it.
 */
const nameChars = new Uint8Array(256)
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") {
  nameChars[char.charCodeAt(0)] = char.charCodeAt(0)
  nameChars[char.toUpperCase().charCodeAt(0)] = char.charCodeAt(0)
}

/**
 * Parses the header lines from `from` on, given as Latin-1 and without the empty line at their end.
 * Returns a string that says what is wrong. The sender may be hostile, so nothing ambiguous is
 * accepted.
 */
export function parseHeaderLines(text: string, from: number): HeaderLines | string {
  const headers: [string, string][] = []
  let length: string | undefined
  let lengths = 0
  let coding: string | undefined
  let isKept = true
  for (let at = from; at < text.length; ) {
    const nameEnd = endOfName(text, at)
    if (nameEnd === at || text.charCodeAt(nameEnd) !== colon) return "a header has an invalid name"
    const end = endOfValue(text, nameEnd + 1)
    if (!isLineEnd(text, end)) return "a header contains a control character"
    const name = toLower(text, at, nameEnd)
    const value = trimmed(text, nameEnd + 1, end)
    headers.push([name, value])
    if (name === "content-length") {
      if (!lengthPattern.test(value) || (length !== undefined && length !== value))
        return "its content-length is invalid"
      length = value
      lengths++
    } else if (name === "transfer-encoding") {
      if (coding !== undefined || value.toLowerCase() !== "chunked")
        return "its transfer-encoding is not supported"
      coding = value
    } else if (name === "connection") isKept &&= !/\bclose\b/i.test(value)
    at = end + 2
  }
  return { headers, length, lengths, coding, isKept }
}

/** The offset of the first control character, or of the end. */
export function endOfValue(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if ((char < space && char !== tab) || char === del) return at
  }
  return text.length
}

/** The last line has no line break. */
export function isLineEnd(text: string, at: number): boolean {
  return at === text.length || (text.charCodeAt(at) === 13 && text.charCodeAt(at + 1) === 10)
}

function endOfName(text: string, from: number): number {
  let at = from
  while (at < text.length && nameChars[text.charCodeAt(at)] !== 0) at++
  return at
}

function toLower(text: string, from: number, to: number): string {
  for (let at = from; at < to; at++)
    if (nameChars[text.charCodeAt(at)] !== text.charCodeAt(at))
      return text.slice(from, to).toLowerCase()
  return text.slice(from, to)
}

function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(char: number): boolean {
  return char === space || char === tab
}
