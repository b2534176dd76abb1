import { runHeader } from "@hamlet/guest/protocol"
import {
  type HeaderList,
  parseRequestHead,
  type RequestHead,
  type ResponseHead,
  upgradeLines,
  type WrittenRequest,
  writeRequest,
} from "@hamlet/http1"
import { forwardedHeaders, isWebSocketUpgrade } from "../policy/forwarded-headers.ts"
import type { Target } from "../policy/target.ts"

/**
 * Parses the head of a request to this server, which a program sends over a socket as any HTTP client
 * does: with a path for its target. `run` names the run, as `runHeader` does.
 */
export function parseOwnHead(text: string, origin: string, run: string): RequestHead | string {
  const head = parseRequestHead(text)
  if (typeof head === "string") return head
  if (!head.target.startsWith("/")) return "its target is not a path"
  return {
    ...head,
    target: origin + head.target,
    headers: [...head.headers, [runHeader, run]],
  }
}

/**
 * Writes a request for the host of its URL, with framing of its own. Undefined when a header cannot
 * be written.
 */
export function toUpstreamRequest(
  { method, framing, headers: received }: RequestHead,
  { host, path }: Target,
  headers: HeaderList,
): WrittenRequest | undefined {
  const isUpgrade = method === "GET" && framing === 0 && isWebSocketUpgrade(received)
  return writeRequest({ method, host, path, headers }, framing, isUpgrade)
}

/** The head of a response as it is sent to the sandbox. */
export interface ClientHead {
  readonly text: string
  /** Whether the body follows in chunks. */
  readonly isChunked: boolean
}

/**
 * Writes the head of the response. The reason phrase is dropped: `fetch` in Deno has none. `isKept`:
 * another request may follow on the connection.
 */
export function toClientHead(
  { status, headers, framing }: ResponseHead,
  method: string,
  isKept: boolean,
): ClientHead {
  const isUpgrade = status === 101
  const isBodiless = isUpgrade || method === "HEAD" || status === 204 || status === 304
  const isChunked = !isBodiless && typeof framing !== "number"
  let text = `HTTP/1.1 ${status} \r\n`
  for (const header of forwardedHeaders(headers)) text += `${header[0]}: ${header[1]}\r\n`
  if (!isUpgrade && !isKept) text += "connection: close\r\n"
  if (isUpgrade) text += upgradeLines
  else if (isChunked) text += "transfer-encoding: chunked\r\n"
  // The response to HEAD has the length that the response to GET would have.
  else if (typeof framing === "number" && (!isBodiless || (method === "HEAD" && framing > 0)))
    text += `content-length: ${framing}\r\n`
  return { text: `${text}\r\n`, isChunked }
}
