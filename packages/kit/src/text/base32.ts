const digits = "abcdefghijklmnopqrstuvwxyz234567"

/** Encodes bytes in base 32 (RFC 4648, lower case, without padding). */
export function toBase32(bytes: Uint8Array): string {
  let text = ""
  let held = 0
  let bits = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += digits[(held >> (bits - 5)) & 31]
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + digits[(held << (5 - bits)) & 31] : text
}

/** Decodes what `toBase32` returns. Other input gives arbitrary bytes. */
export function fromBase32(text: string): Buffer {
  const bytes: number[] = []
  let held = 0
  let bits = 0
  for (const digit of text) {
    held = (held << 5) | digits.indexOf(digit)
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push(held >> bits)
    held &= (1 << bits) - 1
  }
  return Buffer.from(bytes)
}
