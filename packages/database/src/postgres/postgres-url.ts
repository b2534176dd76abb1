import { decodePercent } from "@hamlet/kit"
import { unavailable } from "../errors.ts"

/** Where the database is, for the operator: never with the user's password. */
export function describePostgres(url: URL): string {
  const host = url.searchParams.get("host") ?? url.hostname
  const name = decodePercent(url.pathname.slice(1), url.pathname.length) || url.username
  return `database "${name}" on ${host || "localhost"} port ${url.port || 5432}`
}

export function parsePostgresUrl(text: string): URL {
  const url = URL.parse(text)
  // The text is not repeated, since it may contain a password.
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    throw unavailable("its address is not of the form postgres://user@host/name")
  return url
}
