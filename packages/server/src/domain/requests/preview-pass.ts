import { limits } from "@hamlet/contract"
import { fromBase32, isSameSecret, toBase32 } from "@hamlet/kit"
import type { Caller } from "../access/caller.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import { type EndpointLinks, toEndpoint } from "../files/addresses.ts"
import type { StartedPlace } from "../files/started-files.ts"
import type { Calls } from "../runs/calls.ts"
import type { Cipher } from "../secrets/cipher.ts"
import { assertHttpVal } from "./val-requests.ts"

/** The URLs of vals. */
export interface PreviewLinks extends EndpointLinks {
  /** The URL whose host name starts with that label. */
  labelled(label: string): string
}

/** A URL at which a browser can open a val. */
export interface Preview {
  readonly url: string
  /** Null when it does not expire. */
  readonly expiresAt: number | null
}

/** The rules of previews. */
export type Previews = ReturnType<typeof createPreviews>

interface PreviewsParts {
  readonly calls: Pick<Calls, "findVal">
  readonly cipher: Pick<Cipher, "sign">
  readonly links: PreviewLinks
  readonly clock: Pick<Clock, "now">
}

/** Creates the rules of previews. */
export function createPreviews({ calls, cipher, links, clock: { now } }: PreviewsParts) {
  return {
    /**
     * Creates a preview URL. A browser sends no token, and a frame sends no cookie, so for a private
     * val the URL itself grants access to that file for a limited time. Nothing is stored: the host
     * name contains the file and the expiry, signed by this server.
     */
    async create(caller: Caller, valId: string, place: StartedPlace): Promise<Preview> {
      const val = await calls.findVal(caller, valId, place)
      assertHttpVal(val)
      if (val.privacy !== "private") return { url: toEndpoint(links, val), expiresAt: null }
      // The pass would outlive the run and its token.
      if (caller.isOfRun)
        throw new AppError(
          "missing_scope",
          "Cannot create a preview of a private val: the required permissions are scope val:read in a token that does not belong to a run",
        )
      // The pass does not outlive the token.
      const expiresAt = Math.min(
        now() + limits.previewMsMax,
        caller.root?.expiresAt ?? Number.POSITIVE_INFINITY,
      )
      const expiresSeconds = Math.floor(expiresAt / 1000)
      return {
        url: links.labelled(toPass(cipher, val.file.id, expiresSeconds)),
        expiresAt: expiresSeconds * 1000,
      }
    },
  }
}

const idBytes = 16
const expiryBytes = 4
const signatureBytes = 12
const purpose = "preview pass"

/**
 * A pass is a host name label: 256 bits in base 32. It differs from val names, which contain a
 * dash, and from ids, which are shorter.
 */
const passPattern = /^[a-z2-7]{51}[aq]$/

/** Whether a host name label has the form of a pass. The last digit holds a single bit. */
export function isPass(label: string): boolean {
  return passPattern.test(label)
}

/** Returns the id of the file that a pass opens; undefined if it is invalid or expired. */
export function openPass(
  cipher: Pick<Cipher, "sign">,
  pass: string,
  now: number,
): string | undefined {
  if (!isPass(pass)) return undefined
  const bytes = fromBase32(pass)
  const content = bytes.subarray(0, idBytes + expiryBytes)
  const signature = cipher.sign(content, purpose).subarray(0, signatureBytes)
  if (!isSameSecret(signature, bytes.subarray(idBytes + expiryBytes))) return undefined
  return bytes.readUInt32BE(idBytes) * 1000 > now ? toId(bytes.subarray(0, idBytes)) : undefined
}

function toPass(cipher: Pick<Cipher, "sign">, id: string, expiresSeconds: number): string {
  const content = Buffer.alloc(idBytes + expiryBytes)
  content.write(id.replaceAll("-", ""), "hex")
  content.writeUInt32BE(expiresSeconds, idBytes)
  return toBase32(
    Buffer.concat([content, cipher.sign(content, purpose).subarray(0, signatureBytes)]),
  )
}

function toId(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}
