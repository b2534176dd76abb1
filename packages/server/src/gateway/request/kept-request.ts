import type { HeaderList } from "../../domain/runs/runner.ts"
import type { RunInput } from "../../domain/runs/runs.ts"
import type { GatewayLimits } from "../limits.ts"

/** Credentials, which no record is to hold, and what a replay finds in the address and the body. */
const notKept: ReadonlySet<string> = new Set([
  "authorization",
  "content-length",
  "cookie",
  "proxy-authorization",
  "x-forwarded-host",
  "x-forwarded-proto",
])

/** Names that people give to headers with credentials of their own, such as `x-api-key`. */
const credentialName = /api-?key|password|secret|token/

/** A request as the val gets it. */
export interface KeepableRequest {
  readonly url: string
  readonly headers: HeaderList
  /** In base64; null when it was too large, or is not known yet. */
  readonly body: string | null
  /** The host is a key: no header that names it is kept. */
  readonly pass: string | undefined
}

/**
 * What a replay needs of a request. Null when not all of it is kept: half a request would be
 * another one.
 */
export function toRunInput(
  { url, headers, body, pass }: KeepableRequest,
  { urlCharsMax, keptHeaderBytesMax }: Pick<GatewayLimits, "urlCharsMax" | "keptHeaderBytesMax">,
): RunInput | null {
  if (body === null || url.length > urlCharsMax) return null
  const kept: (readonly [string, string])[] = []
  let bytes = 0
  for (const header of headers) {
    const [name, value] = header
    if (
      notKept.has(name) ||
      credentialName.test(name) ||
      (pass !== undefined && value.toLowerCase().includes(pass))
    )
      continue
    bytes += name.length + value.length
    kept.push(header)
  }
  return bytes > keptHeaderBytesMax ? null : { headers: kept, body }
}
