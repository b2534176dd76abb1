import { timingSafeEqual } from "node:crypto"
import { limits } from "@hamlet/contract"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Cipher } from "../secrets/cipher.ts"
import { getVal, type Val, type ValStore } from "../vals/vals.ts"
import { assertHttpVal } from "./val-requests.ts"

/** What the rules of previews need. */
export interface PreviewDeps {
  readonly vals: ValStore
  readonly cipher: Pick<Cipher, "sign">
  readonly links: {
    endpoint(val: Pick<Val, "id" | "ownerName" | "name">): string
    /** The web address whose host begins with that label. */
    labelled(label: string): string
  }
  now(): number
}

/** Where a browser can look at a val, and until when. */
export interface Preview {
  readonly url: string
  /** Null when it does not end. */
  readonly expiresAt: number | null
}

/**
 * A browser sends no token, and a frame no cookie: whoever may see a private val gets an address
 * that lets in whoever has it, to that val and for a while. Nothing is kept: the address itself
 * says what it opens and until when, and only this server can have made it.
 */
export async function createPreview(
  deps: PreviewDeps,
  caller: Caller,
  valId: string,
): Promise<Preview> {
  const val = await getVal(deps, caller, valId)
  assertHttpVal(val)
  if (val.privacy !== "private") return { url: deps.links.endpoint(val), expiresAt: null }
  // It would go on opening the val when the run and its token are long over.
  if (caller.isOfRun)
    throw new AppError(
      "missing_scope",
      "Cannot make a preview of a private val: the required permissions are scope val:read in a token that is not of a run",
    )
  // Nor does it outlive a token that ends sooner.
  const expiresAt = Math.min(
    deps.now() + limits.previewMsMax,
    caller.root?.expiresAt ?? Number.POSITIVE_INFINITY,
  )
  const expiresSeconds = Math.floor(expiresAt / 1000)
  return {
    url: deps.links.labelled(toPass(deps.cipher, val.id, expiresSeconds)),
    expiresAt: expiresSeconds * 1000,
  }
}

const idBytes = 16
const expiryBytes = 4
const signatureBytes = 12
const purpose = "preview pass"

/**
 * A label of a host name: 256 bits as letters and digits. Names have a dash in it and ids are
 * shorter, so that it is neither.
 */
const passPattern = /^[a-z2-7]{51}[aq]$/
const digits = "abcdefghijklmnopqrstuvwxyz234567"

/**
 * Whether a label of a host name can be a pass. The last digit holds one bit, so that each pass is
 * written in one way.
 */
export function isPass(label: string): boolean {
  return passPattern.test(label)
}

/** The id of the val that a pass opens at that moment; undefined when it opens none. */
export function openPass(
  cipher: Pick<Cipher, "sign">,
  pass: string,
  now: number,
): string | undefined {
  if (!isPass(pass)) return undefined
  const bytes = fromDigits(pass)
  const content = bytes.subarray(0, idBytes + expiryBytes)
  const signature = cipher.sign(content, purpose).subarray(0, signatureBytes)
  if (!timingSafeEqual(signature, bytes.subarray(idBytes + expiryBytes))) return undefined
  return bytes.readUInt32BE(idBytes) * 1000 > now ? toId(bytes.subarray(0, idBytes)) : undefined
}

function toPass(cipher: Pick<Cipher, "sign">, valId: string, expiresSeconds: number): string {
  const content = Buffer.alloc(idBytes + expiryBytes)
  content.write(valId.replaceAll("-", ""), "hex")
  content.writeUInt32BE(expiresSeconds, idBytes)
  return toDigits(
    Buffer.concat([content, cipher.sign(content, purpose).subarray(0, signatureBytes)]),
  )
}

function toId(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

/** Five bits to a digit, the last one filled up with zeros. */
function toDigits(bytes: Uint8Array): string {
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

function fromDigits(text: string): Buffer {
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
