import type { HeaderList } from "./header-lines.ts"
import { isHopByHopHeader } from "./hop-by-hop-headers.ts"

/** A request without its body. */
export interface RequestLines {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly headers: HeaderList
}

/** A request that can be sent: its head is written, and its body follows. */
export interface WrittenRequest {
  readonly method: string
  /** The head as Latin-1, including the empty line at its end. */
  readonly text: string
  /** The length of the body in bytes, or that it is sent in chunks. */
  readonly framing: number | "chunked"
  /** After status 101, all bytes in both directions belong to a WebSocket. */
  readonly isUpgrade: boolean
}

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Line breaks, other control characters, and characters that are not Latin-1. */
const notInValue = /[^\t\x20-\xff]/
/** Spaces, control characters, and characters that a URL must escape. */
const notInPath = /[^\x21-\x7e]/

/** The lines with which a WebSocket is requested and granted. */
export const upgradeLines = "connection: upgrade\r\nupgrade: websocket\r\n"

/**
 * Writes the head of a request. Headers about the framing and the connection are replaced.
 * Undefined when a character would change the meaning of the request.
 */
export function writeRequest(
  { method, host, path, headers }: RequestLines,
  framing: number | "chunked",
  isUpgrade = false,
): WrittenRequest | undefined {
  if (!tokenPattern.test(method) || notInPath.test(path) || notInPath.test(host)) return undefined
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`
  for (const header of headers) {
    if (isFraming(header[0])) continue
    if (!isProperHeader(header)) return undefined
    text += `${header[0]}: ${header[1]}\r\n`
  }
  text += isUpgrade ? upgradeLines : toFramingLine(method, framing)
  return { method, text: `${text}\r\n`, framing, isUpgrade }
}

/** Whether the header can be written without becoming something else. */
export function isProperHeader(header: HeaderList[number]): boolean {
  return tokenPattern.test(header[0]) && !notInValue.test(header[1])
}

/**
 * Whether the request may be sent again when a reused connection was closed before a response: it
 * changes nothing, and has no body that was consumed.
 */
export function isRepeatable(request: Pick<WrittenRequest, "method" | "framing">): boolean {
  return request.framing === 0 && (hasNoBody(request.method) || request.method === "OPTIONS")
}

function isFraming(name: string): boolean {
  return name === "host" || name === "content-length" || isHopByHopHeader(name)
}

function toFramingLine(method: string, framing: number | "chunked"): string {
  if (framing === "chunked") return "transfer-encoding: chunked\r\n"
  return framing === 0 && hasNoBody(method) ? "" : `content-length: ${framing}\r\n`
}

/** Whether requests with this method need no `content-length: 0` when they have no body. */
function hasNoBody(method: string): boolean {
  return method === "GET" || method === "HEAD"
}
