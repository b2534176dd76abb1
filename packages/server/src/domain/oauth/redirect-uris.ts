import { oauthLimits } from "./oauth.ts"

/** Schemes that a browser handles itself, or that run code: a client cannot own them. */
const refusedSchemes =
  /^(?:about|blob|chrome|chrome-extension|content|data|file|filesystem|ftp|intent|javascript|mailto|moz-extension|sms|tel|vbscript|view-source|ws|wss):$/

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

/**
 * Why a client cannot be redirected to a URI; undefined if it can: to https, to this machine over
 * http, or to an app that has registered a scheme of its own with the operating system.
 */
export function findRedirectProblem(uri: string): string | undefined {
  // Characters that every parser treats alike, and none that it would drop.
  if (uri.length > oauthLimits.redirectUriCharsMax || !/^[\x21-\x7e]+$/.test(uri))
    return "must be a URI in visible ASCII of limited length"
  const url = URL.parse(uri)
  if (!url) return "must be an absolute URI"
  if (uri.includes("#")) return "must not have a fragment"
  if (url.username !== "" || url.password !== "") return "must not have a user name"
  if (url.protocol === "https:") return undefined
  if (url.protocol === "http:")
    return loopbackHosts.has(url.hostname)
      ? undefined
      : "must use https, except for localhost, 127.0.0.1 and [::1]"
  return refusedSchemes.test(url.protocol) ? `must not use the scheme ${url.protocol}` : undefined
}

/**
 * Whether a request may redirect to a URI: it is registered exactly, except that an app on this
 * machine may listen on any port (RFC 8252, section 7.3).
 */
export function isRegistered(registered: readonly string[], uri: string): boolean {
  return registered.includes(uri) || registered.some((one) => isSameButPort(one, uri))
}

function isSameButPort(registered: string, uri: string): boolean {
  const [one, other] = [URL.parse(registered), URL.parse(uri)]
  return (
    one !== null &&
    other !== null &&
    findRedirectProblem(uri) === undefined &&
    isLoopback(uri) &&
    one.protocol === other.protocol &&
    one.hostname === other.hostname &&
    one.pathname === other.pathname &&
    one.search === other.search
  )
}

/** Whether a URI leads to a program on the user's own machine, over http. */
export function isLoopback(uri: string): boolean {
  const url = URL.parse(uri)
  return url?.protocol === "http:" && loopbackHosts.has(url.hostname)
}

/** Where a URI leads, for people: a host, or the scheme of an app. */
export function toRedirectTarget(uri: string): string {
  const url = URL.parse(uri)
  return url === null || url.host === "" || !/^https?:$/.test(url.protocol)
    ? (url?.protocol ?? uri)
    : url.host
}
