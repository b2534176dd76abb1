import { createHash, timingSafeEqual } from "node:crypto"

/** The SHA-256 of a text, as UTF-8, or of bytes. */
export function sha256(content: string | Uint8Array): Buffer {
  return createHash("sha256").update(content).digest()
}

/** Whether two secrets are equal. The time that it takes tells nothing about either. */
export function isSameSecret(one: string | Uint8Array, other: string | Uint8Array): boolean {
  return timingSafeEqual(sha256(one), sha256(other))
}
