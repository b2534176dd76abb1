import { blockedHeader } from "@hamlet/guest/protocol"

/** Why a request was not let out, or came to nothing. */
export class Refusal {
  /** What the sandbox is answered with, if it has no answer yet. */
  readonly status: RefusalStatus
  /** How things stand: what follows `Cannot fetch "…": `. */
  readonly reason: string

  constructor(status: RefusalStatus, reason: string) {
    this.status = status
    this.reason = reason
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

/** The door's own answer to a request that came to nothing. */
export function toBlockedAnswer(
  status: RefusalStatus,
  sentence: string,
  { isKept, isHead }: BlockedOptions,
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

interface BlockedOptions {
  /** Whether another request may follow. */
  readonly isKept: boolean
  /** The answer to HEAD has no body. */
  readonly isHead: boolean
}

/**
 * The sentence that a val reads. What follows the path is left out: it is long, and secrets are in
 * it.
 */
export function toSentence(url: string, reason: string, charsMax: number): string {
  const shown = url.split(/[?#]/, 1)[0] ?? ""
  return `Cannot fetch "${cutChars(shown, charsMax)}": ${reason}`
}

/** Cut where it is too long. */
export function cutChars(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`
}
