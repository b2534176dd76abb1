/** Headers that contain credentials. */
const names: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "proxy-authenticate",
  "proxy-authorization",
  "set-cookie",
  "set-cookie2",
])

/** Names of custom headers that contain credentials, such as `x-api-key`. */
const pattern = /api-?key|password|secret|token/

/**
 * Whether a header contains a credential: its value is never stored. A replay that adds one has to
 * wait for its run, because the queue would have to store it.
 */
export function isCredentialHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return names.has(lower) || pattern.test(lower)
}
