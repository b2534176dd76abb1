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
/** Whatever would end a line, and what is no byte. */
const notInValue = /[^\t\x20-\xff]/
/** Whatever would end a path, and what belongs into it in another form. */
const notInPath = /[^\x21-\x7e]/

/**
 * Writes the head of a request. `framing` is the lines that say how body and connection end, which
 * are for the one to write who sends them. Undefined when there is something in it that would make
 * another request of it.
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

/** Whether it is one header, and stays one when it is written down. */
export function isProperHeader(header: HeaderList[number]): boolean {
  return tokenPattern.test(header[0]) && !notInValue.test(header[1])
}

/** Whether a request without a body need not say so. */
export function hasNoBody(method: string): boolean {
  return method === "GET" || method === "HEAD"
}

function isFraming(name: string): boolean {
  return name === "host" || name === "content-length" || isHopByHopHeader(name)
}
