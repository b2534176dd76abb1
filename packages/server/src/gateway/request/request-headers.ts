import type { HeaderList } from "../../domain/runs/runner.ts"
import { isHopByHopHeader, parseConnectionNames } from "../../shared/hop-by-hop-headers.ts"
import { withoutSessionCookies } from "../../shared/session-cookie.ts"

/** The headers of a request by their names in lower case. */
export type HeaderRecord = Readonly<Record<string, string | undefined>>

/** Headers that a client may not send to a val. */
const reservedHeaders: ReadonlySet<string> = new Set([
  "expect",
  "forwarded",
  "host",
  "x-real-ip",
  "x-request-id",
  "x-run-id",
])

/** All headers at once, which is cheaper than asking for them one by one. */
export function readHeaders(headers: Headers): HeaderRecord {
  return (headers as Headers & { toJSON(): HeaderRecord }).toJSON()
}

/** What a val learns about the way a request came. */
export interface Origin {
  readonly address: string
  readonly proto: string
  /** Host and port in the one way we write them. */
  readonly host: string
}

/**
 * What of the headers a val is to get. The host is no part of it: it goes with the request in the
 * one way we write it.
 */
export function prepareHeaders(known: HeaderRecord, origin: Origin, isForUs: boolean): HeaderList {
  const { connection } = known
  const named = parseConnectionNames(connection === undefined ? [] : [connection])
  const headers: [string, string][] = []
  for (const name in known) {
    if (isDropped(name) || named.has(name) || (isForUs && name === "authorization")) continue
    const value = name === "cookie" ? withoutSessionCookies(known.cookie ?? "") : known[name]
    if (typeof value === "string") headers.push([name, value])
    // Bun gives these as a list, in a request, too.
    else for (const one of (value ?? []) as readonly string[]) headers.push([name, one])
  }
  headers.push(
    ["x-forwarded-for", origin.address],
    ["x-forwarded-proto", origin.proto],
    ["x-forwarded-host", origin.host],
  )
  return headers
}

function isDropped(name: string): boolean {
  return (
    isHopByHopHeader(name) ||
    reservedHeaders.has(name) ||
    name.startsWith("x-hamlet-") ||
    name.startsWith("x-forwarded-")
  )
}
