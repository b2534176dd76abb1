import { blockedHeader } from "@hamlet/guest/protocol"

/** Why a request is not forwarded, or fails on the way. */
export class Refusal extends Error {
  override readonly name = "Refusal"
  /** The status of the response to the sandbox, if none was sent yet. */
  readonly status: RefusalStatus

  /** The reason follows `Cannot fetch "…": `. */
  constructor(status: RefusalStatus, reason: string) {
    super(reason)
    this.status = status
  }

  get reason(): string {
    return this.message
  }
}

const statusTexts = {
  400: "Bad Request",
  403: "Forbidden",
  429: "Too Many Requests",
  502: "Bad Gateway",
  504: "Gateway Timeout",
  508: "Loop Detected",
}

export type RefusalStatus = keyof typeof statusTexts

/** The proxy's own response to a request that it does not forward, or that fails. */
export function toRefusalResponse(
  status: RefusalStatus,
  sentence: string,
  { isKept, isHead }: RefusalResponseOptions,
): Uint8Array {
  const body = Buffer.from(sentence)
  const lines = [
    `HTTP/1.1 ${status} ${statusTexts[status]}`,
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

/** The message of the error that the val gets. The query is left out: it may contain secrets. */
export function toRefusalSentence(url: string, reason: string, charsMax: number): string {
  const shown = url.split(/[?#]/, 1)[0] ?? ""
  return `Cannot fetch "${truncateUrl(shown, charsMax)}": ${reason}`
}

export function truncateUrl(url: string, charsMax: number): string {
  return url.length <= charsMax ? url : `${url.slice(0, charsMax - 1)}…`
}
