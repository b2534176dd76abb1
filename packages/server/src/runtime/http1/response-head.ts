import type { HeaderList } from "../../domain/runs/runner.ts"
import { endOfValue, isLineEnd, parseHeaderLines } from "./header-lines.ts"

/** The head of a response, and the framing of its body. */
export interface ResponseHead {
  readonly status: number
  readonly headers: HeaderList
  readonly framing: Framing
  /** Whether another request may follow on the same connection. */
  readonly isKept: boolean
}

/** A body ends after this many bytes, with its last chunk, or with the connection. */
export type Framing = number | "chunked" | "close"

const space = 32

/**
 * Parses a head, given as Latin-1 and without the empty line at its end. Returns a string that says
 * what is wrong.
 */
export function parseResponseHead(text: string): ResponseHead | string {
  const status = parseStatus(text)
  if (status === undefined) return "its status line is invalid"
  const lineEnd = endOfValue(text, 12)
  if (!isLineEnd(text, lineEnd)) return "its status line contains a control character"
  const lines = parseHeaderLines(text, lineEnd + 2)
  if (typeof lines === "string") return lines
  const { headers, length, coding } = lines
  const isOld = text.charCodeAt(versionAt) === 48
  const isKept = lines.isKept && !isOld
  // With both, the length is ignored (RFC 9112, section 6.3), and the connection cannot be trusted
  // with another response.
  if (coding !== undefined)
    return isOld
      ? "its body is chunked, which HTTP/1.0 does not support"
      : { status, headers, framing: "chunked", isKept: isKept && length === undefined }
  return { status, headers, framing: length === undefined ? "close" : Number(length), isKept }
}

/** Every response begins with this, except for the last digit of the version. */
export const responseStart = Buffer.from("HTTP/1.1 ")
export const versionAt = 7

/** Three digits, followed by a space or the end of the line. */
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
