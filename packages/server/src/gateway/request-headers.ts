/** The headers of a request by their names in lower case. */
export type HeaderRecord = Readonly<Record<string, string | undefined>>

/** What is between us and the client, and what only we may tell a val. */
const dropped = new Set([
  "connection",
  "expect",
  "forwarded",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
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

/** Makes the headers fit for a val, in place: copying them would cost every request more than all the rest of this. */
export function prepareHeaders(headers: Headers, known: HeaderRecord, origin: Origin, isForUs: boolean): void {
  for (const name in known) if (isDropped(name)) headers.delete(name)
  const { connection } = known
  if (connection !== undefined) dropNamed(headers, connection)
  if (isForUs) headers.delete("authorization")
  if (known.host !== origin.host) headers.set("host", origin.host)
  // Else the client of our own would say what it is.
  if (known["user-agent"] === undefined) headers.set("user-agent", "")
  headers.set("x-forwarded-for", origin.address)
  headers.set("x-forwarded-proto", origin.proto)
  headers.set("x-forwarded-host", origin.host)
}

function isDropped(name: string): boolean {
  return dropped.has(name) || name.startsWith("x-hamlet-") || name.startsWith("x-forwarded-")
}

/** Headers that `Connection` names are meant for the next hop only. */
export function dropNamed(headers: Headers, connection: string): void {
  if (connection === "keep-alive" || connection === "close") return
  for (const part of connection.split(",")) {
    const name = part.trim().toLowerCase()
    // A host is never left out, and what is no name of a header would be refused.
    if (name !== "host" && /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) headers.delete(name)
  }
}
