import { type HeaderList, isHopByHopHeader, parseConnectionNames } from "@hamlet/http1"

/** Headers that the proxy writes itself. */
const ownHeaders: ReadonlySet<string> = new Set(["content-length", "expect", "host"])

/** The headers of a request, or of a response, that are forwarded. */
export function forwardedHeaders(headers: HeaderList): HeaderList {
  const named = connectionNames(headers)
  return headers.filter((header) => !isDropped(header[0]) && !named.has(header[0]))
}

/** Whether the headers ask for a WebSocket, or grant one. No other upgrade is forwarded. */
export function isWebSocketUpgrade(headers: HeaderList): boolean {
  const upgrades = headers.filter((header) => header[0] === "upgrade")
  return (
    upgrades.length === 1 &&
    upgrades[0]?.[1].toLowerCase() === "websocket" &&
    connectionNames(headers).has("upgrade")
  )
}

/**
 * Only the server may send headers with its own prefix: the depth of a call, the run of a request,
 * the reason for a refusal.
 */
function isDropped(name: string): boolean {
  return isHopByHopHeader(name) || ownHeaders.has(name) || name.startsWith("x-hamlet-")
}

function connectionNames(headers: HeaderList): ReadonlySet<string> {
  return parseConnectionNames(
    headers.filter((header) => header[0] === "connection").map((header) => header[1]),
  )
}
