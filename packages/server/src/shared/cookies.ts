import { sha256 } from "@hamlet/kit"

/** For HTTPS. Browsers accept a `__Host-` cookie from the host itself only, not from subdomains. */
const secureName = "__Host-hamlet_session"
const plainName = "hamlet_session"
/** At a val, for requests of the frame in the app that shows its page. */
const previewName = "hamlet_preview"
/** A page that stays open longer without a navigation is not recognised any more. */
const previewSeconds = 3_600

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
  return sha256(`page key of ${text}`).toString("base64url")
}

/**
 * The cookie that marks the frame of a preview at a val. It grants nothing. `Partitioned` keeps it
 * apart from the cookies of the same val in a window of its own.
 */
export function toPreviewCookie(): string {
  return `${previewName}=1; Path=/; Max-Age=${previewSeconds}; Secure; HttpOnly; SameSite=None; Partitioned`
}

/** Whether a `Cookie` header has the cookie of a preview. */
export function hasPreviewCookie(header: string): boolean {
  return listCookies(header, previewName).length > 0
}

/** Removes the server's own cookies from a `Cookie` header; undefined when none is left. */
export function withoutOwnCookies(header: string): string | undefined {
  if (!mayNameOwn(header)) return header
  const left = splitCookies(header).filter((pair) => !isOwnName(toName(pair)))
  return left.length === 0 ? undefined : left.join("; ")
}

/** Whether a `Set-Cookie` header is for a cookie that only the server itself may set. */
export function setsOwnCookie(header: string): boolean {
  // A cookie without a name is sent as its value, so that what follows the sign would be taken for
  // the name.
  return (
    mayNameOwn(header) && isOwnName(toName((header.split(";")[0] ?? "").replace(/^[\s=]+/, "")))
  )
}

function mayNameOwn(header: string): boolean {
  return /hamlet_(?:session|preview)/i.test(header)
}

function isOwnName(name: string): boolean {
  // Browsers disagree about the case of the prefix.
  return [plainName, secureName.toLowerCase(), previewName].includes(name.toLowerCase())
}

function splitCookies(header: string): readonly string[] {
  return header.split(";").map((pair) => pair.trim())
}

function toName(pair: string): string {
  const end = pair.indexOf("=")
  return (end < 0 ? pair : pair.slice(0, end)).trim()
}
