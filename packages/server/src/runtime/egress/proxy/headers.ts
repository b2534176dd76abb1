import type { HeaderList } from "../../../domain/runs/runner.ts"
import { isHopByHopHeader, parseConnectionNames } from "../../../shared/hop-by-hop-headers.ts"
import type { RequestHead } from "./request-head.ts"

/** What of the headers of a request goes out, or of an answer comes in. */
export function passHeaders(headers: HeaderList): HeaderList {
  const named = connectionNames(headers)
  return headers.filter(([name]) => !isDropped(name) && !named.has(name))
}

/**
 * Whether a request asks for a WebSocket. Nothing else that a connection could become is passed on.
 */
export function isUpgrade({ method, framing, headers }: RequestHead): boolean {
  return method === "GET" && framing === 0 && isToSocket(headers)
}

/** Whether that is what the headers say. */
export function isToSocket(headers: HeaderList): boolean {
  return hasUpgrade(headers) && connectionNames(headers).has("upgrade")
}

function hasUpgrade(headers: HeaderList): boolean {
  let count = 0
  for (const header of headers)
    if (header[0] === "upgrade") count += header[1].toLowerCase() === "websocket" ? 1 : 2
  return count === 1
}

/** Headers that the proxy writes itself. */
const ownHeaders: ReadonlySet<string> = new Set(["content-length", "expect", "host"])

/**
 * Only the server may send headers with its own prefix: the depth of a call, the run of a request,
 * the reason for a refusal.
 */
function isDropped(name: string): boolean {
  return isHopByHopHeader(name) || ownHeaders.has(name) || name.startsWith("x-hamlet-")
}

function connectionNames(headers: HeaderList): ReadonlySet<string> {
  return parseConnectionNames(
    headers.filter(([name]) => name === "connection").map(([, value]) => value),
  )
}
