import type { Cipher, Sealed } from "./cipher.ts"

/**
 * Where the database keeps a text that everybody knows, encrypted: it tells whether the keys at
 * hand are the right ones.
 */
export const keyCheckName = "secret_key_check"

const known = { text: "hamlet", purpose: "key check" }

/** What is kept there, encrypted with the newest key. */
export function sealKeyCheck(cipher: Cipher): string {
  const { keyId, bytes } = cipher.seal(known.text, known.purpose)
  return `${keyId} ${Buffer.from(bytes).toString("base64")}`
}

/** The name of the key that is needed and that nobody has; undefined when all is well. */
export function findMissingKey(cipher: Cipher, kept: string): string | undefined {
  const [keyId = "", bytes = ""] = kept.split(" ")
  const sealed: Sealed = { keyId, bytes: Buffer.from(bytes, "base64") }
  try {
    cipher.open(sealed, known.purpose)
    return undefined
  } catch {
    return keyId
  }
}
