import type { HeaderList } from "../../domain/runs/runner.ts"
import { isHopByHopHeader, parseConnectionNames } from "../../shared/hop-by-hop-headers.ts"
import { setsSessionCookie } from "../../shared/session-cookie.ts"

/** Headers that only the gateway may send, or that would affect other vals and the API. */
const reservedHeaders: ReadonlySet<string> = new Set([
  "alt-svc",
  "clear-site-data",
  "x-request-id",
  "x-run-id",
])

/**
 * The headers of an answer as the client gets them, but for the length, and what the gateway has to
 * know of them.
 */
export interface PreparedHeaders {
  readonly headers: Headers
  /**
   * Of the body; undefined when the val did not say, or said it in a way that cannot be relied on.
   */
  readonly length: number | undefined
  readonly hasType: boolean
}

/**
 * Makes the headers of an answer fit for a client. Undefined when there are more of them than we
 * pass on.
 */
export function prepareResponseHeaders(
  list: HeaderList,
  runId: string,
  bytesMax: number,
): PreparedHeaders | undefined {
  const headers = new Headers()
  let bytes = 0
  let length: number | undefined
  const connections: string[] = []
  let isEncoded = false
  for (const [name, value] of list) {
    bytes += name.length + value.length
    if (name === "content-length") length = /^\d{1,15}$/.test(value) ? Number(value) : undefined
    else if (name === "connection") connections.push(value)
    else if (name === "transfer-encoding") isEncoded = true
    else if (name === "set-cookie") {
      // Whoever it reached would be signed in as somebody else, or no longer.
      if (!setsSessionCookie(value)) headers.append(name, keepAtHome(value))
    } else if (!isDropped(name)) headers.append(name, value)
  }
  if (bytes > bytesMax) return undefined
  // `Headers.delete` throws for an invalid name, so only names from the list are deleted.
  const named = parseConnectionNames(connections)
  for (const [name] of list) if (named.has(name)) headers.delete(name)
  headers.set("x-run-id", runId)
  // With both, the length is not the one that counts; relying on it would mean to read whatever
  // else the val sends.
  if (isEncoded) length = undefined
  return { headers, length, hasType: headers.has("content-type") }
}

function isDropped(name: string): boolean {
  return isHopByHopHeader(name) || reservedHeaders.has(name) || name.startsWith("x-hamlet-")
}

/** A val sets cookies for its own host, not for its neighbours or the API. */
function keepAtHome(cookie: string): string {
  return /domain/i.test(cookie) ? withoutDomain(cookie) : cookie
}

function withoutDomain(cookie: string): string {
  const [pair = "", ...attributes] = cookie.split(";")
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(
    ";",
  )
}
