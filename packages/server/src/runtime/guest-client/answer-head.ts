import type { HeaderList } from "../../domain/execution.ts"

/** The head of an answer, and how its body ends. */
export interface AnswerHead {
  readonly status: number
  readonly headers: HeaderList
  readonly framing: Framing
  /** Whether another request may follow on the same connection. */
  readonly isKept: boolean
}

/** Where a body ends: after so many bytes, with the last chunk, or with the connection. */
export type Framing = number | "chunked" | "close"

const lengthPattern = /^\d{1,15}$/
const tab = 9
const space = 32
const del = 127
const colon = 58

/** By the code of a character: 0 for what cannot be in the name of a header, else the code of its lower case. */
const nameChars = new Uint8Array(256)
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") {
  nameChars[char.charCodeAt(0)] = char.charCodeAt(0)
  nameChars[char.toUpperCase().charCodeAt(0)] = char.charCodeAt(0)
}

/**
 * Reads a head, given without the empty line at its end. The text is the bytes as Latin-1. What is wrong with it is told in words: whoever
 * wrote it may be hostile, so that nothing doubtful is made sense of.
 */
export function parseAnswerHead(text: string): AnswerHead | string {
  const status = parseStatus(text)
  if (status === undefined) return "it does not begin with the status of an answer"
  const lineEnd = endOfValue(text, 12)
  if (!isLineEnd(text, lineEnd)) return "there is a control character in its first line"
  const headers: [string, string][] = []
  let length: string | undefined
  let coding: string | undefined
  let isKept = true
  for (let at = lineEnd + 2; at < text.length; ) {
    const nameEnd = endOfName(text, at)
    if (nameEnd === at || text.charCodeAt(nameEnd) !== colon) return "there is a header without a proper name"
    const end = endOfValue(text, nameEnd + 1)
    if (!isLineEnd(text, end)) return "there is a control character in a header"
    const name = toLower(text, at, nameEnd)
    const value = trimmed(text, nameEnd + 1, end)
    headers.push([name, value])
    if (name === "content-length") {
      if (!lengthPattern.test(value) || (length !== undefined && length !== value)) return "it does not say how long its body is"
      length = value
    } else if (name === "transfer-encoding") {
      if (coding !== undefined || value.toLowerCase() !== "chunked") return "its body is encoded in a way that is not understood"
      coding = value
    } else if (name === "connection") isKept &&= !/\bclose\b/i.test(value)
    at = end + 2
  }
  // With both, the length is not the one that counts, and what follows on the connection is anybody's guess.
  if (coding !== undefined) return { status, headers, framing: "chunked", isKept: isKept && length === undefined }
  return { status, headers, framing: length === undefined ? "close" : Number(length), isKept }
}

/** What every answer begins with; whatever begins otherwise is none, and need not be read further. */
export const answerStart = Buffer.from("HTTP/1.1 ")

/** The three digits behind the version, and nothing but a space or the end of the line behind them. */
function parseStatus(text: string): number | undefined {
  if (!text.startsWith("HTTP/1.1 ")) return undefined
  let status = 0
  for (let at = 9; at < 12; at++) {
    const digit = text.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) return undefined
    status = status * 10 + digit
  }
  return text.length === 12 || text.charCodeAt(12) === space || text.charCodeAt(12) === 13 ? status : undefined
}

function endOfName(text: string, from: number): number {
  let at = from
  while (at < text.length && nameChars[text.charCodeAt(at)] !== 0) at++
  return at
}

function endOfValue(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if ((char < space && char !== tab) || char === del) return at
  }
  return text.length
}

/** The last line has no end of its own. */
function isLineEnd(text: string, at: number): boolean {
  return at === text.length || (text.charCodeAt(at) === 13 && text.charCodeAt(at + 1) === 10)
}

function toLower(text: string, from: number, to: number): string {
  for (let at = from; at < to; at++) if (nameChars[text.charCodeAt(at)] !== text.charCodeAt(at)) return text.slice(from, to).toLowerCase()
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
