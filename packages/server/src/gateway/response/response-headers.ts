import { type HeaderList, isHopByHopHeader, parseConnectionNames } from "@hamlet/http1"
import { setsOwnCookie } from "../../shared/cookies.ts"

/** Headers that only the gateway may send, or that would affect other vals and the API. */
const reservedHeaders: ReadonlySet<string> = new Set([
  "alt-svc",
  "clear-site-data",
  "x-request-id",
  "x-run-id",
])

/** The headers that the client receives, without the length, and facts derived from them. */
export interface PreparedHeaders {
  readonly headers: Headers
  /** Length of the body; undefined when the header is missing or cannot be trusted. */
  readonly length: number | undefined
  readonly hasType: boolean
}

interface CachedHeaders extends PreparedHeaders {
  readonly bytes: number
}

/** By the list, which is the same for all responses with the same head. */
const cache = new WeakMap<HeaderList, CachedHeaders>()

/** Prepares the headers of a val's response. Undefined when they are larger than `bytesMax`. */
export function prepareResponseHeaders(
  list: HeaderList,
  runId: string,
  bytesMax: number,
): PreparedHeaders | undefined {
  let cached = cache.get(list)
  if (!cached) {
    cached = prepare(list)
    cache.set(list, cached)
  }
  const { bytes, length, hasType } = cached
  if (bytes > bytesMax) return undefined
  const headers = new Headers(cached.headers)
  headers.set("x-run-id", runId)
  return { headers, length, hasType }
}

function prepare(list: HeaderList): CachedHeaders {
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
      // A val that could set our own cookies would sign the visitor's browser out, sign it in to
      // another account, or mark it as a preview.
      if (!setsOwnCookie(value)) headers.append(name, toHostOnly(value))
    } else if (!isDropped(name)) headers.append(name, value)
  }
  // `Headers.delete` throws for an invalid name, so only names from the list are deleted.
  const named = parseConnectionNames(connections)
  for (const [name] of list) if (named.has(name)) headers.delete(name)
  // With both headers, the length is not the one that applies (RFC 9112, section 6.3).
  if (isEncoded) length = undefined
  return { headers, length, hasType: headers.has("content-type"), bytes }
}

function isDropped(name: string): boolean {
  return isHopByHopHeader(name) || reservedHeaders.has(name) || name.startsWith("x-hamlet-")
}

/** Restricts a cookie to the host of the val: other vals and the API must not receive it. */
function toHostOnly(cookie: string): string {
  return /domain/i.test(cookie) ? withoutDomain(cookie) : cookie
}

function withoutDomain(cookie: string): string {
  const [pair = "", ...attributes] = cookie.split(";")
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(
    ";",
  )
}
