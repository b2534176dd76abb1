import { sha256 } from "@hamlet/kit"

const hashChars = 16

/** Identifies a text among those of a version. */
export function toTextHash(text: string): string {
  return sha256(text).toString("hex").slice(0, hashChars)
}
