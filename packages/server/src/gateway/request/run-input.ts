import { isCredentialHeader } from "@hamlet/contract/credential-headers"
import type { HeaderList } from "@hamlet/http1"
import type { RunInput } from "../../domain/runs/runs.ts"
import type { GatewayLimits } from "../limits.ts"

/** Headers that a replay derives from URL and body. */
const notStored: ReadonlySet<string> = new Set([
  "content-length",
  "x-forwarded-host",
  "x-forwarded-proto",
])

/** A request as the val receives it. */
export interface ReplayableRequest {
  readonly url: string
  readonly headers: HeaderList
  /** In base64; null when it is too large, or not received yet. */
  readonly body: string | null
  /** A secret in the host name: a header that contains it is not stored. */
  readonly pass: string | undefined
}

/**
 * The parts of a request that a replay needs. Null when not all of it can be stored: a replay of
 * half a request would be a different request.
 */
export function toRunInput(
  { url, headers, body, pass }: ReplayableRequest,
  {
    urlCharsMax,
    storedHeaderBytesMax,
  }: Pick<GatewayLimits, "urlCharsMax" | "storedHeaderBytesMax">,
): RunInput | null {
  if (body === null || url.length > urlCharsMax) return null
  const stored: (readonly [string, string])[] = []
  let bytes = 0
  for (const header of headers) {
    const [name, value] = header
    if (
      notStored.has(name) ||
      isCredentialHeader(name) ||
      (pass !== undefined && value.toLowerCase().includes(pass))
    )
      continue
    bytes += name.length + value.length
    stored.push(header)
  }
  return bytes > storedHeaderBytesMax ? null : { headers: stored, body }
}
