import { type HeaderList, parseHeaderLines } from "./header-lines.ts"

/** The head of a request that a client sends to a proxy. */
export interface RequestHead {
  readonly method: string
  /** An absolute URL, if the client is a proper one; anything, if it is not. */
  readonly target: string
  readonly headers: HeaderList
  /** The length of the body in bytes, or that it is chunked. */
  readonly framing: number | "chunked"
  /** Whether another request may follow on the connection. */
  readonly isKept: boolean
  readonly bytes: number
}

const linePattern = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ([\x21-\x7e]+) HTTP\/1\.1$/

/**
 * Parses a head, given as Latin-1 and without the empty line at its end. Returns a string that says
 * what is wrong with it. This is stricter than the parser of responses: the only legitimate client
 * is a library that is known, and anything that it would not send is an attack.
 */
export function parseRequestHead(text: string): RequestHead | string {
  const lineEnd = text.indexOf("\r\n")
  const [, method, target] = linePattern.exec(lineEnd < 0 ? text : text.slice(0, lineEnd)) ?? []
  if (method === undefined || target === undefined)
    return "its first line is not an HTTP/1.1 request line"
  // An upstream proxy would open a tunnel that we could not inspect. `fetch` never sends CONNECT.
  if (method.toUpperCase() === "CONNECT") return "CONNECT is not supported"
  const lines = parseHeaderLines(text, lineEnd < 0 ? text.length : lineEnd + 2)
  if (typeof lines === "string") return lines
  const { headers, length, lengths, coding, isKept } = lines
  // The upstream server might use the other of the two lengths (request smuggling).
  if (lengths > 1 || (length !== undefined && coding !== undefined))
    return "it states the length of its body more than once"
  const framing = coding === undefined ? Number(length ?? 0) : "chunked"
  return { method, target, headers, framing, isKept, bytes: text.length }
}
