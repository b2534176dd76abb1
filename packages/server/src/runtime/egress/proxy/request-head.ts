import type { HeaderList } from "../../../domain/runs/runner.ts"
import { parseHeaderLines } from "../../http1/header-lines.ts"

/** The head of a request as the sandbox has sent it. */
export interface RequestHead {
  readonly method: string
  /** The whole address, unless somebody is up to something. */
  readonly target: string
  readonly headers: HeaderList
  /** Bytes of the body. */
  readonly framing: number | "chunked"
  /** Whether another request may follow on the same connection. */
  readonly isKept: boolean
  readonly bytes: number
}

const linePattern = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ([\x21-\x7e]+) HTTP\/1\.1$/

/**
 * Reads a head, given without the empty line at its end. The text is the bytes as Latin-1. What is
 * wrong with it is told in words. It is stricter than it is with answers: only Deno speaks here,
 * and whatever it would not say is an attempt at something.
 */
export function parseRequestHead(text: string): RequestHead | string {
  const lineEnd = text.indexOf("\r\n")
  const [, method, target] = linePattern.exec(lineEnd < 0 ? text : text.slice(0, lineEnd)) ?? []
  if (method === undefined || target === undefined)
    return "its first line is no request of HTTP/1.1"
  // A proxy behind it would open a tunnel, in which nobody reads along. No fetch sends it.
  if (method.toUpperCase() === "CONNECT") return "tunnels are not opened here"
  const lines = parseHeaderLines(text, lineEnd < 0 ? text.length : lineEnd + 2)
  if (typeof lines === "string") return lines
  const { headers, length, lengths, coding, isKept } = lines
  // Whoever comes next may believe the other one.
  if (lengths > 1 || (length !== undefined && coding !== undefined))
    return "it says more than once how long its body is"
  const framing = coding === undefined ? Number(length ?? 0) : "chunked"
  return { method, target, headers, framing, isKept, bytes: text.length }
}
