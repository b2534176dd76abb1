import { createHash } from "node:crypto"

/** For HTTPS. Browsers accept a `__Host-` cookie from the host itself only, not from subdomains. */
const secureName = "__Host-hamlet_session"
const plainName = "hamlet_session"

/** The name of the session cookie. */
export function toSessionCookieName(isSecure: boolean): string {
  return isSecure ? secureName : plainName
}

/**
 * The values of all cookies with the name. A page on a domain that the server shares can plant
 * another one beside its own.
 */
export function listCookies(header: string, name: string): readonly string[] {
  const pairs = splitCookies(header).filter((pair) => toName(pair) === name)
  return pairs.map((pair) => pair.slice(name.length).replace(/^\s*=\s*/, ""))
}

/**
 * The page key of a session: what the page holds of it in storage that only its own origin can
 * write. A cookie counts only together with its key, so a cookie that another page planted counts
 * for nothing. It is a hash, which does not reveal the cookie.
 */
export function toPageKey(text: string): string {
  return createHash("sha256").update(`page key of ${text}`).digest("base64url")
}

/** Removes session cookies from a `Cookie` header; undefined when none is left. */
export function withoutSessionCookies(header: string): string | undefined {
  if (!mayNameSession(header)) return header
  const left = splitCookies(header).filter((pair) => !isSessionName(toName(pair)))
  return left.length === 0 ? undefined : left.join("; ")
}

/** Whether a `Set-Cookie` header is for a cookie that only the server itself may set. */
export function setsSessionCookie(header: string): boolean {
  // A cookie without a name is sent as its value, so that what follows the sign would be taken for
  // the name.
  return (
    mayNameSession(header) &&
    isSessionName(toName((header.split(";")[0] ?? "").replace(/^[\s=]+/, "")))
  )
}

function mayNameSession(header: string): boolean {
  return /hamlet_session/i.test(header)
}

function isSessionName(name: string): boolean {
  // Browsers disagree about the case of the prefix.
  return name.toLowerCase() === plainName || name.toLowerCase() === secureName.toLowerCase()
}

function splitCookies(header: string): readonly string[] {
  return header.split(";").map((pair) => pair.trim())
}

function toName(pair: string): string {
  const end = pair.indexOf("=")
  return (end < 0 ? pair : pair.slice(0, end)).trim()
}
