/** Headers about one connection (RFC 9110, section 7.6.1): a proxy does not forward them. */
const hopByHopHeaders: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

/** Whether a proxy drops the header. `name` is in lower case. */
export function isHopByHopHeader(name: string): boolean {
  return hopByHopHeaders.has(name) || name.startsWith("proxy-")
}

const noNames: ReadonlySet<string> = new Set()

/** The names, in lower case, that `Connection` headers list: a proxy drops these headers too. */
export function parseConnectionNames(values: readonly string[]): ReadonlySet<string> {
  // Most requests and responses have no such header.
  if (values.length === 0) return noNames
  return new Set(values.flatMap((value) => value.toLowerCase().split(",")).map((it) => it.trim()))
}
