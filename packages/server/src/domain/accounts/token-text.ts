import { sha256, toBase62 } from "@hamlet/kit"

/**
 * What a secret string is for: to be sent as a bearer token, to be in a browser's cookie, to be in a
 * link that signs in or invites, or to be exchanged for a token by a client of OAuth.
 */
export type TokenKind = "token" | "session" | "link" | "invitation" | "code" | "refresh"

/**
 * Leaked tokens are found by scanners that know how they begin. What is one kind has not the shape
 * of another.
 */
const prefixes: Readonly<Record<TokenKind, string>> = {
  token: "hamlet_",
  session: "hamlet_session_",
  link: "hamlet_link_",
  invitation: "hamlet_invitation_",
  code: "hamlet_code_",
  refresh: "hamlet_refresh_",
}

const secretDigits = 43 // 62^43 > 2^256
/**
 * The random digits of a token: with its prefix and checksum it has the 43 characters of 256 bits
 * in base64url, the length that clients written for Val Town accept. 62^30 > 2^178.
 */
const tokenDigits = 30
const checksumDigits = 6 // 62^6 > 2^32

/**
 * Matches a secret string of ours of any kind inside any text, also one that is no longer valid.
 */
export const tokenPattern =
  /hamlet_(?:session_|link_|invitation_|code_|refresh_)?[0-9A-Za-z]{36,49}/

/**
 * The secret string of a token: a prefix, random bits and a checksum, by which a scanner knows it for
 * one of ours. Tokens of earlier releases are longer.
 */
export function makeTokenText(random: Uint8Array, kind: TokenKind = "token"): string {
  const length = kind === "token" ? tokenDigits : secretDigits
  const secret = toBase62(BigInt(`0x${Buffer.from(random).toString("hex")}`), length)
  return `${prefixes[kind]}${secret}${checksum(secret)}`
}

/**
 * Whether a string can be one of a kind at all. A token may be one that the operator chose, with or
 * without our prefix, so its checksum is not looked at; sessions and links are always ours.
 */
export function hasTokenShape(text: string, kind: TokenKind = "token"): boolean {
  if (!/^[\x21-\x7e]{32,200}$/.test(text)) return false
  if (kind === "token") return true
  if (!text.startsWith(prefixes[kind])) return false
  const secret = text.slice(prefixes[kind].length, -checksumDigits)
  return secret.length === secretDigits && text.endsWith(checksum(secret))
}

function checksum(secret: string): string {
  return toBase62(BigInt(Bun.hash.crc32(secret)), checksumDigits)
}

/** The hash that is stored of a token's secret string: SHA-256 in hexadecimal. */
export function hashToken(text: string): string {
  return sha256(text).toString("hex")
}
