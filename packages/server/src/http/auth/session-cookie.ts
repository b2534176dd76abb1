import { noPageKey, sessionHeader } from "@hamlet/contract"
import { listCookies, toPageKey, toSessionCookieName } from "../../shared/cookies.ts"

/** The session cookie. Scripts cannot read it, and requests from other sites do not carry it. */
export type SessionCookie = ReturnType<typeof createSessionCookie>

/** The session cookie of the server at `baseUrl`. */
export function createSessionCookie(baseUrl: string) {
  const isSecure = baseUrl.startsWith("https:")
  const name = toSessionCookieName(isSecure)
  const write = (text: string, seconds: number) =>
    `${name}=${text}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`
  const list = (request: Request) => listCookies(request.headers.get("cookie") ?? "", name)
  /**
   * The session whose page key the request carries. `ended` when no cookie has that session;
   * undefined without a page key or without a cookie.
   */
  const find = (request: Request): { readonly text: string } | "ended" | undefined => {
    const key = request.headers.get(sessionHeader)
    const texts = list(request)
    if (key === noPageKey || texts.length === 0) return undefined
    const text = texts.find((text) => toPageKey(text) === key)
    return text === undefined ? "ended" : { text }
  }
  return {
    find,
    /** The session that a sign-in replaces: the one of `find`, or else the first in a cookie. */
    findReplaced(request: Request): string | undefined {
      const found = find(request)
      return typeof found === "object" ? found.text : list(request)[0]
    },
    /** The `Set-Cookie` header that stores a session. */
    set: (text: string, ms: number) => write(text, Math.floor(ms / 1000)),
    /** The `Set-Cookie` header that deletes the cookie. */
    clear: write("", 0),
  }
}

/**
 * Whether a page of this server sent the request. A form cannot send the session header, and CORS
 * forbids it to pages of other origins, vals included. Browsers set `Sec-Fetch-Site` and `Origin`
 * themselves; pages cannot change them.
 */
export function isFromOwnPage(request: Request): boolean {
  const { headers } = request
  const site = headers.get("sec-fetch-site")
  const hasKey = /^(1|[\w-]{43})$/.test(headers.get(sessionHeader) ?? "")
  return (
    hasKey &&
    (site === null || site === "same-origin") &&
    isOwnOrigin(request, headers.get("origin"))
  )
}

function isOwnOrigin(request: Request, origin: string | null): boolean {
  if (origin === null) return true
  // A caller in this process sends no Host header; then the URL has the host.
  const host = request.headers.get("host") ?? hostOf(request.url)
  return host !== undefined && hostOf(origin) === host.toLowerCase()
}

function hostOf(address: string): string | undefined {
  return /^https?:\/\/([^/?#]+)/i.exec(address)?.[1]?.toLowerCase()
}
