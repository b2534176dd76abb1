import type { SMTPServerDataStream } from "smtp-server"
import { SmtpReply } from "./replies.ts"

/** What all messages that are being received may take together. */
export class MessageBudget {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Returns false when there is no room. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false
    this.#bytes += bytes
    return true
  }

  give(bytes: number): void {
    this.#bytes -= bytes
  }
}

/** A received message. Call `release` when it needs no memory any more. */
export interface ReceivedMessage {
  readonly raw: Uint8Array<ArrayBuffer>
  release(): void
}

/**
 * Reads a message to its end. Bytes beyond a limit are dropped, because a client reads the reply
 * only after it has sent everything. Rejects with the reply, or when the client disconnects.
 */
export async function receiveMessage(
  stream: SMTPServerDataStream,
  bytesMax: number,
  budget: MessageBudget,
): Promise<ReceivedMessage> {
  let chunks: Uint8Array[] = []
  let taken = 0
  let problem: SmtpReply | undefined
  const refuse = (reply: SmtpReply) => {
    problem = reply
    chunks = []
    budget.give(taken)
    taken = 0
  }
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      if (problem) continue
      if (taken + chunk.length > bytesMax)
        refuse(new SmtpReply(552, `5.3.4 The message is larger than ${bytesMax} bytes`))
      else if (budget.take(chunk.length)) {
        taken += chunk.length
        chunks.push(chunk)
      } else refuse(new SmtpReply(452, "4.3.1 The server has no memory left; try again later"))
    }
    if (problem) throw problem
    const raw = concat(chunks, taken)
    const bytes = taken
    taken = 0
    return { raw, release: () => budget.give(bytes) }
  } finally {
    budget.give(taken)
  }
}

/** In a buffer of its own, which can be handed to a thread. */
function concat(chunks: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
