/** Where the cookie can be sent encrypted only. Browsers take a cookie of that name from the host itself alone, not from its neighbours. */
const secureName = "__Host-hamlet_session"
const plainName = "hamlet_session"

/** The name of the cookie that sessions live in. */
export function toSessionCookieName(isSecure: boolean): string {
  return isSecure ? secureName : plainName
}

/** The value of the one cookie with the name. Two of them can only mean that somebody has planted one, and nobody knows which. */
export function findCookie(header: string, name: string): string | undefined {
  const [pair, ...others] = splitCookies(header).filter((pair) => toName(pair) === name)
  return pair === undefined || others.length > 0 ? undefined : pair.slice(name.length).replace(/^\s*=\s*/, "")
}

/** The cookies that a val may see; undefined when none is left. */
export function withoutSessionCookies(header: string): string | undefined {
  if (!mayNameSession(header)) return header
  const left = splitCookies(header).filter((pair) => !isSessionName(toName(pair)))
  return left.length === 0 ? undefined : left.join("; ")
}

/** Whether a `Set-Cookie` header is for a cookie that only the server itself may set. */
export function setsSessionCookie(header: string): boolean {
  // A cookie without a name is sent as its value, so that what follows the sign would be taken for the name.
  return mayNameSession(header) && isSessionName(toName((header.split(";")[0] ?? "").replace(/^[\s=]+/, "")))
}

function mayNameSession(header: string): boolean {
  return /hamlet_session/i.test(header)
}

function isSessionName(name: string): boolean {
  // Browsers are not at one about the case of the prefix.
  return name.toLowerCase() === plainName || name.toLowerCase() === secureName.toLowerCase()
}

function splitCookies(header: string): readonly string[] {
  return header.split(";").map((pair) => pair.trim())
}

function toName(pair: string): string {
  const end = pair.indexOf("=")
  return (end < 0 ? pair : pair.slice(0, end)).trim()
}
