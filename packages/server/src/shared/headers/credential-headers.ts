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

/** Whether a header, named in lower case, contains a credential: its value is never stored. */
export function isCredentialHeader(name: string): boolean {
  return names.has(name) || pattern.test(name)
}
