import type { SocketErrorCode } from "@hamlet/guest/protocol"
import { NotFound } from "../policy/decide-socket.ts"
import { Refusal, type RefusalStatus } from "../policy/refusal.ts"

/** Why a server could not be reached, with the code of Node's error. */
export class ConnectFailure extends Refusal {
  readonly code: SocketErrorCode

  constructor(code: SocketErrorCode, status: RefusalStatus, reason: string) {
    super(status, reason)
    this.code = code
  }
}

/** Explains the error of a connection attempt. */
export function explainConnectFailure(error: unknown, host: string): ConnectFailure {
  const code =
    typeof error === "object" && error !== null && "code" in error ? String(error.code) : ""
  if (code === "ECONNREFUSED" || code === "ETIMEDOUT") return failures[code](host)
  return new ConnectFailure("EHOSTUNREACH", 502, `${host} cannot be reached`)
}

/** The failure of an attempt that takes too long. */
export function toTimeout(host: string): ConnectFailure {
  return failures.ETIMEDOUT(host)
}

const failures = {
  ECONNREFUSED: (host: string) =>
    new ConnectFailure("ECONNREFUSED", 502, `${host} refuses connections`),
  ETIMEDOUT: (host: string) => new ConnectFailure("ETIMEDOUT", 504, `${host} does not respond`),
}

/** The code of the error that the val gets. */
export function toErrorCode(refusal: Refusal): SocketErrorCode {
  if (refusal instanceof ConnectFailure) return refusal.code
  if (refusal instanceof NotFound) return "ENOTFOUND"
  return codes[refusal.status]
}

const codes: Readonly<Record<RefusalStatus, SocketErrorCode>> = {
  400: "EINVAL",
  403: "EACCES",
  429: "EAGAIN",
  502: "EHOSTUNREACH",
  504: "ETIMEDOUT",
  508: "EACCES",
}
