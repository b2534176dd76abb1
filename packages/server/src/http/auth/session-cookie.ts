import { noPageKey, sessionHeader } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import { listCookies, toPageKey, toSessionCookieName } from "../../shared/session-cookie.ts"

/**
 * The cookie that sessions live in. No script can read it, and no request that begins on another
 * site carries it.
 */
export interface SessionCookie {
  /**
   * The session that the page holds the key of. `ended` when it holds the key of a session that is
   * in no cookie; undefined when it holds no key or there is no cookie.
   */
  find(request: Request): { readonly text: string } | "ended" | undefined
  /** The session that a sign-in replaces: the one that `find` finds, or what is in the cookie. */
  findReplaced(request: Request): string | undefined
  /** The `Set-Cookie` header that puts a session into it. */
  set(text: string, ms: number): string
  /** The one that takes it away. */
  readonly clear: string
}

/**
 * The session of a browser has ended: the page learns it by the code, and the browser forgets the
 * cookie.
 */
export class SessionEnded extends AppError {
  constructor(readonly setCookie: string) {
    super("invalid_session", "Cannot go on: the session of this browser has ended; sign in again")
  }
}

/** The cookie of a server at that address. */
export function createSessionCookie(baseUrl: string): SessionCookie {
  const isSecure = baseUrl.startsWith("https:")
  const name = toSessionCookieName(isSecure)
  const write = (text: string, seconds: number) =>
    `${name}=${text}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`
  const list = (request: Request) => listCookies(request.headers.get("cookie") ?? "", name)
  const find = (request: Request) => {
    const key = request.headers.get(sessionHeader)
    const texts = list(request)
    if (key === noPageKey || texts.length === 0) return undefined
    const text = texts.find((text) => toPageKey(text) === key)
    return text === undefined ? "ended" : { text }
  }
  return {
    find,
    findReplaced(request) {
      const found = find(request)
      return typeof found === "object" ? found.text : list(request)[0]
    },
    set: (text, ms) => write(text, Math.floor(ms / 1000)),
    clear: write("", 0),
  }
}

/**
 * Whether a page of this server sent the request. A form cannot send the header, and a page of
 * another origin, a val's included, would have to ask first and be refused, since CORS does not
 * allow it. The other two are said by the browser itself, and no page can change them.
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
  // Without the header the address is what the caller asked for: in a program that calls us without
  // a port.
  const host = request.headers.get("host") ?? hostOf(request.url)
  return host !== undefined && hostOf(origin) === host.toLowerCase()
}

function hostOf(address: string): string | undefined {
  return /^https?:\/\/([^/?#]+)/i.exec(address)?.[1]?.toLowerCase()
}
