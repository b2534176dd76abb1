import { createHash } from "node:crypto"

const hashChars = 16

/** Identifies a text among those of a version. */
export function toTextHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, hashChars)
}
