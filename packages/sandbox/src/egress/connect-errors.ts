import type { Http1Failure } from "@hamlet/http1"
import { Refusal } from "./policy/refusal.ts"

/** Why there is no response from the host, or only a part of one. */
export function explainUpstreamFailure(
  { kind, message, cause }: Http1Failure,
  host: string,
): Refusal {
  switch (kind) {
    case "connect":
      return explainConnect(cause, host)
    case "tls":
      return explainTls(cause, host)
    case "slow":
      return toTimeout(host)
    case "stale":
      return new Refusal(502, `${host} has closed the connection`)
    case "closed":
      return new Refusal(502, `${host} has closed the connection before the end of its response`)
    case "invalid":
      return new Refusal(502, `${host} sent an invalid response: ${message}`)
    case "stopped":
      return new Refusal(502, message)
  }
}

/** Why a connection could not be opened. */
export function explainConnect(error: unknown, host: string): Refusal {
  const code = toCode(error)
  if (code === "ECONNREFUSED") return new Refusal(502, `${host} refuses connections`, code)
  if (code === "ETIMEDOUT") return toTimeout(host)
  return new Refusal(502, `${host} cannot be reached`)
}

/** The failure of an attempt that takes too long. */
export function toTimeout(host: string): Refusal {
  return new Refusal(504, `${host} does not respond`)
}

/** Why the TLS handshake failed. The message names what is wrong with a certificate. */
function explainTls(error: unknown, host: string): Refusal {
  const code = toCode(error)
  return new Refusal(
    502,
    certificateFaults[code]?.(host) ??
      `no TLS connection to ${host} is possible${code && ` (${code})`}`,
  )
}

const unknownAuthority = (host: string) => `the certificate of ${host} is from an unknown authority`
const expired = (host: string) => `the certificate of ${host} has expired`

const certificateFaults: Readonly<Record<string, (host: string) => string>> = {
  CERT_HAS_EXPIRED: expired,
  CERT_NOT_YET_VALID: (host) => `the certificate of ${host} is not valid yet`,
  CERT_REVOKED: (host) => `the certificate of ${host} was revoked`,
  ERR_TLS_CERT_ALTNAME_INVALID: (host) => `the certificate is for another host than ${host}`,
  DEPTH_ZERO_SELF_SIGNED_CERT: (host) => `the certificate of ${host} is self-signed`,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
}

function toCode(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : ""
}
