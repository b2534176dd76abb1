import { type HeaderList, parseConnectionNames } from "@hamlet/http1"
import type { TraceSpan } from "@hamlet/kit"
import { withoutOwnCookies } from "../../shared/cookies.ts"
import { isReservedHeader } from "../../shared/headers/reserved-headers.ts"

/** The headers of a request by name, in lower case. */
export type HeaderRecord = Readonly<Record<string, string | undefined>>

/** One call of Bun's own method is cheaper than reading headers one by one. */
export function readHeaders(headers: Headers): HeaderRecord {
  return (headers as Headers & { toJSON(): HeaderRecord }).toJSON()
}

/** The headers with the span of the run as the parent of what the val does. */
export function withTraceparent(headers: HeaderList, { traceparent }: TraceSpan): HeaderList {
  return [...headers.filter(([name]) => name !== "traceparent"), ["traceparent", traceparent]]
}

/** What a val learns about the client, in the `x-forwarded-…` headers. */
export interface ClientInfo {
  readonly address: string
  readonly proto: string
  /** Host and port in canonical form. */
  readonly host: string
}

/**
 * The headers that a val receives. `Host` is not among them: the request carries the canonical
 * one. `hasHamletToken` drops the `Authorization` header.
 */
export function prepareRequestHeaders(
  headers: HeaderRecord,
  client: ClientInfo,
  hasHamletToken: boolean,
): HeaderList {
  const { connection } = headers
  const named = parseConnectionNames(connection === undefined ? [] : [connection])
  const list: [string, string][] = []
  for (const name in headers) {
    if (isReservedHeader(name) || named.has(name) || (hasHamletToken && name === "authorization"))
      continue
    const value = name === "cookie" ? withoutOwnCookies(headers.cookie ?? "") : headers[name]
    if (typeof value === "string") list.push([name, value])
    // Bun returns several `Set-Cookie` headers as an array, also those of a request.
    else for (const one of (value ?? []) as readonly string[]) list.push([name, one])
  }
  list.push(
    ["x-forwarded-for", client.address],
    ["x-forwarded-proto", client.proto],
    ["x-forwarded-host", client.host],
  )
  return list
}
