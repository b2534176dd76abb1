import { blockedHeader, type SocketErrorCode } from "@hamlet/guest/protocol"

/** Why a request is not forwarded, or fails on the way. */
export class Refusal extends Error {
  override readonly name = "Refusal"
  /** The status of the response to the sandbox, if none was sent yet. */
  readonly status: RefusalStatus
  /** The code of the error that a socket of the program gets. */
  readonly code: SocketErrorCode

  /** The reason follows `Cannot fetch "…": `. */
  constructor(status: RefusalStatus, reason: string, code?: SocketErrorCode) {
    super(reason)
    this.status = status
    this.code = code ?? statuses[status].code
  }

  get reason(): string {
    return this.message
  }
}

const statuses = {
  400: { text: "Bad Request", code: "EINVAL" },
  403: { text: "Forbidden", code: "EACCES" },
  429: { text: "Too Many Requests", code: "EAGAIN" },
  502: { text: "Bad Gateway", code: "EHOSTUNREACH" },
  504: { text: "Gateway Timeout", code: "ETIMEDOUT" },
  508: { text: "Loop Detected", code: "EACCES" },
} as const

type RefusalStatus = keyof typeof statuses

/** The proxy's own response to a request that it does not forward, or that fails. */
export function toRefusalResponse(
  status: RefusalStatus,
  sentence: string,
  { isKept, isHead }: RefusalResponseOptions,
): Uint8Array {
  const body = Buffer.from(sentence)
  const lines = [
    `HTTP/1.1 ${status} ${statuses[status].text}`,
    `${blockedHeader}: 1`,
    "content-type: text/plain; charset=utf-8",
    `content-length: ${body.length}`,
    ...(isKept ? [] : ["connection: close"]),
  ]
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1")
  return isHead ? head : Buffer.concat([head, body])
}

interface RefusalResponseOptions {
  /** Whether another request may follow on the connection. */
  readonly isKept: boolean
  /** A response to HEAD has no body. */
  readonly isHead: boolean
}

/** The message of the error that the program gets. The query is left out: it may contain secrets. */
export function toRefusalSentence(url: string, reason: string, charsMax: number): string {
  const shown = url.split(/[?#]/, 1)[0] ?? ""
  return `Cannot fetch "${truncateUrl(shown, charsMax)}": ${reason}`
}

export function truncateUrl(url: string, charsMax: number): string {
  return url.length <= charsMax ? url : `${url.slice(0, charsMax - 1)}…`
}
