import { sessionHeader } from "@hamlet/contract"
import { AppError } from "../domain/app-error.ts"
import { findCookie, toSessionCookieName } from "../domain/session-cookie.ts"

/** The cookie that sessions live in. No script can read it, and no request that begins on another site carries it. */
export interface SessionCookie {
  /** What is in it, where the request has it exactly once. */
  read(request: Request): string | undefined
  /** The `Set-Cookie` header that puts a session into it. */
  set(text: string, ms: number): string
  /** The one that takes it away. */
  readonly clear: string
}

/** The session of a browser has ended: the page learns it by the code, and the browser forgets the cookie. */
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
  return {
    read: (request) => findCookie(request.headers.get("cookie") ?? "", name),
    set: (text, ms) => write(text, Math.floor(ms / 1000)),
    clear: write("", 0),
  }
}

/**
 * Whether a page of this server sent the request. A form cannot send the header, and a page of another origin, a val's included, would have to
 * ask first and be refused, since CORS does not allow it. The other two are said by the browser itself, and no page can change them.
 */
export function isFromOwnPage(request: Request): boolean {
  const { headers } = request
  const site = headers.get("sec-fetch-site")
  return headers.get(sessionHeader) === "1" && (site === null || site === "same-origin") && isOwnOrigin(request, headers.get("origin"))
}

function isOwnOrigin(request: Request, origin: string | null): boolean {
  if (origin === null) return true
  // Without the header the address is what the caller asked for: in a program that calls us without a port.
  const host = request.headers.get("host") ?? hostOf(request.url)
  return host !== undefined && hostOf(origin) === host.toLowerCase()
}

function hostOf(address: string): string | undefined {
  return /^https?:\/\/([^/?#]+)/i.exec(address)?.[1]?.toLowerCase()
}
