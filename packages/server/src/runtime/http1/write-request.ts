import type { HeaderList } from "../../domain/runs/runner.ts"
import { isHopByHopHeader } from "../../shared/hop-by-hop-headers.ts"

/** A request without its body. */
export interface RequestLines {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly headers: HeaderList
}

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Line breaks, other control characters, and characters that are not Latin-1. */
const notInValue = /[^\t\x20-\xff]/
/** Spaces, control characters, and characters that a URL must escape. */
const notInPath = /[^\x21-\x7e]/

/**
 * Writes the head of a request. `framing` is the header lines about the body and the connection,
 * which replace those in `headers`. Undefined when a character would change the meaning of the
 * request.
 */
export function writeRequestHead(
  { method, host, path, headers }: RequestLines,
  framing: string,
): string | undefined {
  if (!tokenPattern.test(method) || notInPath.test(path) || notInPath.test(host)) return undefined
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`
  for (const header of headers) {
    if (isFraming(header[0])) continue
    if (!isProperHeader(header)) return undefined
    text += `${header[0]}: ${header[1]}\r\n`
  }
  return `${text}${framing}\r\n`
}

/** Whether the header can be written without becoming something else. */
export function isProperHeader(header: HeaderList[number]): boolean {
  return tokenPattern.test(header[0]) && !notInValue.test(header[1])
}

/** Whether requests with this method need no `content-length: 0` when they have no body. */
export function hasNoBody(method: string): boolean {
  return method === "GET" || method === "HEAD"
}

function isFraming(name: string): boolean {
  return name === "host" || name === "content-length" || isHopByHopHeader(name)
}
