import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto"
import { AppError } from "../app-error.ts"

/** Encrypted text, and the id of the key that decrypts it. */
export interface Sealed {
  readonly keyId: string
  readonly bytes: Uint8Array
}

/** Encrypts what must not be readable in the database or a backup. */
export type Cipher = ReturnType<typeof createCipher>

/** The length of a key. */
export const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/**
 * AES-256-GCM with a random nonce. The first key encrypts, all keys decrypt. Keys may be rotated
 * while the server runs, so `reload` returns the current ones: text encrypted with a key that was
 * dropped could never be decrypted.
 */
export function createCipher(
  keys: readonly Uint8Array[],
  reload: () => readonly Uint8Array[] = () => keys,
) {
  const newest = () => {
    const [first] = reload()
    if (!first) throw new Error("Cannot encrypt without a key")
    return first
  }
  const find = (keyId: string, among: readonly Uint8Array[]) =>
    among.find((key) => toKeyId(key) === keyId)
  return {
    /** The key that new texts are encrypted with. */
    get keyId(): string {
      return toKeyId(newest())
    },
    /** `purpose` is authenticated: only the same purpose decrypts the text. */
    seal: (text: string, purpose: string): Sealed => seal(newest(), text, purpose),
    /** Fails with `secret_key_missing` for a key that is not configured. */
    open(sealed: Sealed, purpose: string): string {
      const key = find(sealed.keyId, keys) ?? find(sealed.keyId, reload())
      if (!key)
        throw new AppError(
          "secret_key_missing",
          `Cannot decrypt a secret: this server does not have key ${sealed.keyId}`,
        )
      return open(key, sealed, purpose)
    },
    /** A signature of 32 bytes with the newest key. Signatures of other purposes differ. */
    sign: (content: Uint8Array, purpose: string): Uint8Array => sign(newest(), content, purpose),
  }
}

/** Identifies a key without revealing it. */
function toKeyId(key: Uint8Array): string {
  return createHash("sha256").update("hamlet key id").update(key).digest("hex").slice(0, 16)
}

function seal(key: Uint8Array, text: string, purpose: string): Sealed {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(purpose))
  const bytes = Buffer.concat([
    nonce,
    cipher.update(text, "utf8"),
    cipher.final(),
    cipher.getAuthTag(),
  ])
  return { keyId: toKeyId(key), bytes }
}

function open(key: Uint8Array, sealed: Sealed, purpose: string): string {
  const nonce = sealed.bytes.subarray(0, nonceBytes)
  const text = sealed.bytes.subarray(nonceBytes, -tagBytes)
  const decipher = createDecipheriv("aes-256-gcm", key, nonce)
    .setAAD(Buffer.from(purpose))
    .setAuthTag(sealed.bytes.subarray(-tagBytes))
  return Buffer.concat([decipher.update(text), decipher.final()]).toString("utf8")
}

/** Derives a key per purpose, so that signatures of different purposes are independent. */
function sign(key: Uint8Array, content: Uint8Array, purpose: string): Uint8Array {
  const purposeKey = createHmac("sha256", key).update(`hamlet signature: ${purpose}`).digest()
  return createHmac("sha256", purposeKey).update(content).digest()
}

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
