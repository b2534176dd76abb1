import { isHopByHopHeader } from "@hamlet/http1"

const names: ReadonlySet<string> = new Set([
  "expect",
  "forwarded",
  "host",
  "x-real-ip",
  "x-request-id",
  "x-run-id",
  "x-val-town-access",
  "x-val-town-user",
])

/** Whether a client may not send a header, named in lower case, to a val: the server sets it. */
export function isReservedHeader(name: string): boolean {
  return (
    isHopByHopHeader(name) ||
    names.has(name) ||
    name.startsWith("x-hamlet-") ||
    name.startsWith("x-forwarded-")
  )
}
