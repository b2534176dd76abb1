import type { Cipher, Sealed } from "./cipher.ts"

/** The name of a known text that is stored encrypted, to check that the right keys are configured. */
export const keyCheckName = "secret_key_check"

const known = { text: "hamlet", purpose: "key check" }

/** Encrypts the known text with the newest key. */
export function sealKeyCheck(cipher: Cipher): string {
  const { keyId, bytes } = cipher.seal(known.text, known.purpose)
  return `${keyId} ${Buffer.from(bytes).toString("base64")}`
}

/** Returns the id of the key that is missing; undefined when the text can be decrypted. */
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
