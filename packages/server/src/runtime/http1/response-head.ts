import type { HeaderList } from "../../domain/runs/runner.ts"
import { endOfValue, isLineEnd, parseHeaderLines } from "./header-lines.ts"

/** The head of an answer, and how its body ends. */
export interface ResponseHead {
  readonly status: number
  readonly headers: HeaderList
  readonly framing: Framing
  /** Whether another request may follow on the same connection. */
  readonly isKept: boolean
}

/** Where a body ends: after so many bytes, with the last chunk, or with the connection. */
export type Framing = number | "chunked" | "close"

const space = 32

/**
 * Reads a head, given without the empty line at its end. The text is the bytes as Latin-1. What is
 * wrong with it is told in words.
 */
export function parseResponseHead(text: string): ResponseHead | string {
  const status = parseStatus(text)
  if (status === undefined) return "it does not begin with the status of an answer"
  const lineEnd = endOfValue(text, 12)
  if (!isLineEnd(text, lineEnd)) return "there is a control character in its first line"
  const lines = parseHeaderLines(text, lineEnd + 2)
  if (typeof lines === "string") return lines
  const { headers, length, coding } = lines
  const isOld = text.charCodeAt(versionAt) === 48
  const isKept = lines.isKept && !isOld
  // With both, the length is not the one that counts, and what follows on the connection is
  // anybody's guess.
  if (coding !== undefined)
    return isOld
      ? "its body is in chunks, which its version does not know"
      : { status, headers, framing: "chunked", isKept: isKept && length === undefined }
  return { status, headers, framing: length === undefined ? "close" : Number(length), isKept }
}

/** What every answer begins with, but for the last digit of the version. */
export const responseStart = Buffer.from("HTTP/1.1 ")
export const versionAt = 7

/**
 * The three digits behind the version, and nothing but a space or the end of the line behind them.
 */
function parseStatus(text: string): number | undefined {
  if (!text.startsWith("HTTP/1.1 ") && !text.startsWith("HTTP/1.0 ")) return undefined
  let status = 0
  for (let at = 9; at < 12; at++) {
    const digit = text.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) return undefined
    status = status * 10 + digit
  }
  return text.length === 12 || text.charCodeAt(12) === space || text.charCodeAt(12) === 13
    ? status
    : undefined
}
