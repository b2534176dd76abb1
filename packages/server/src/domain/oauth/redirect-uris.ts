import { oauthLimits } from "./oauth.ts"

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

/** A name or an address, as URL writes it: no wildcard, and no character that a program could read otherwise. */
const hostPattern =
  /^(?:\[[0-9a-f:.]+\]|(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)$/

/**
 * The schemes that apps have registered with the operating system contain the name of a domain
 * (RFC 8252, section 7.1). Others start parts of the system (`ms-msdt`), run code (`javascript`) or are
 * handled by the browser itself.
 */
const privateSchemePattern = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/

/** Schemes without a dot of apps that are known to connect to MCP servers, and accept only what they have asked for. */
const knownAppSchemes: ReadonlySet<string> = new Set(["cursor:"])

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
  if (uri.includes("\\")) return "must not have a backslash"
  if (url.username !== "" || url.password !== "") return "must not have a user name"
  return /^https?:$/.test(url.protocol) ? findWebProblem(uri, url) : findAppProblem(uri, url)
}

/** A browser, a person and another parser must all read the same host. */
function findWebProblem(uri: string, url: URL): string | undefined {
  if (uri !== url.href && `${uri}/` !== url.href)
    return "must be written as browsers read it, with a host"
  if (!hostPattern.test(url.hostname)) return "must have the name or the address of one host"
  return url.protocol === "https:" || loopbackHosts.has(url.hostname)
    ? undefined
    : "must use https, except for localhost, 127.0.0.1 and [::1]"
}

function findAppProblem(uri: string, { protocol }: URL): string | undefined {
  const isPrivate = privateSchemePattern.test(protocol) || knownAppSchemes.has(protocol)
  return isPrivate && uri.startsWith(protocol)
    ? undefined
    : `must not use the scheme ${protocol}: a scheme of an app has a dot, as in com.example.app:/done`
}

/**
 * Whether a request may redirect to a URI: it is registered exactly, except that an app on this
 * machine may listen on any port (RFC 8252, section 7.3). URIs of clients that registered under
 * looser rules are judged again.
 */
export function isRegistered(registered: readonly string[], uri: string): boolean {
  return (
    findRedirectProblem(uri) === undefined &&
    (registered.includes(uri) || registered.some((one) => isSameButPort(one, uri)))
  )
}

function isSameButPort(registered: string, uri: string): boolean {
  const [one, other] = [URL.parse(registered), URL.parse(uri)]
  return (
    one !== null &&
    other !== null &&
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
