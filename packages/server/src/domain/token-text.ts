/** Leaked tokens are found by scanners that know how they begin. */
const tokenPrefix = "hamlet_"

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const secretDigits = 43 // 62^43 > 2^256
const checksumDigits = 6 // 62^6 > 2^32

/** The secret string of a token: a prefix, 256 random bits and a checksum, so that a typing error is told from a stranger's guess without a lookup. */
export function makeTokenText(random: Uint8Array): string {
  const secret = toDigits(BigInt(`0x${Buffer.from(random).toString("hex")}`), secretDigits)
  return `${tokenPrefix}${secret}${checksum(secret)}`
}

/** Whether a string can be a token at all. One that the operator chose has no prefix and is taken as it is. */
export function hasTokenShape(text: string): boolean {
  if (!/^[\x21-\x7e]{32,200}$/.test(text)) return false
  if (!text.startsWith(tokenPrefix)) return true
  const secret = text.slice(tokenPrefix.length, -checksumDigits)
  return secret.length === secretDigits && text.endsWith(checksum(secret))
}

function checksum(secret: string): string {
  return toDigits(BigInt(Bun.hash.crc32(secret)), checksumDigits)
}

function toDigits(number: bigint, length: number): string {
  let rest = number
  let text = ""
  for (let index = 0; index < length; index++) {
    text = (digits[Number(rest % 62n)] ?? "") + text
    rest /= 62n
  }
  return text
}
