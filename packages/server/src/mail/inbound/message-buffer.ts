import { createTimeSlice } from "@hamlet/kit"
import type { SMTPServerDataStream } from "smtp-server"
import { mailLimits } from "../../domain/mail/inbound/mail.ts"
import { SmtpReply } from "./replies.ts"
import { smtpLimits } from "./smtp-limits.ts"

/** What all messages that are being received, read or stored may take together, in bytes. */
export class MessageBudget {
  readonly #bytesMax: number
  readonly #bytesPerClientMax: number
  readonly #byClient = new Map<string, number>()
  #bytes = 0

  constructor(bytesMax: number, bytesPerClientMax: number) {
    this.#bytesMax = bytesMax
    this.#bytesPerClientMax = bytesPerClientMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Returns false when there is no room, or the client has its share. */
  take(client: string, bytes: number): boolean {
    const ofClient = (this.#byClient.get(client) ?? 0) + bytes
    if (this.#bytes + bytes > this.#bytesMax || ofClient > this.#bytesPerClientMax) return false
    this.add(client, bytes)
    return true
  }

  /** Adds bytes that exist already; a negative number gives them back. */
  add(client: string, bytes: number): void {
    this.#bytes += bytes
    const ofClient = (this.#byClient.get(client) ?? 0) + bytes
    if (ofClient > 0) this.#byClient.set(client, ofClient)
    else this.#byClient.delete(client)
  }
}

/** A received message. Call `release` when it needs no memory any more. */
export interface ReceivedMessage {
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
  /** From now on it takes so much memory, because it was read. */
  resize(bytes: number): void
  release(): void
}

/** Where a message comes from, and what it may take. */
export interface ReceiveLimits {
  readonly client: string
  readonly bytesMax: number
  readonly budget: MessageBudget
}

/** A message that costs too much to receive. The connection is closed, since the rest would too. */
export class TooCostly extends SmtpReply {
  constructor(problem: string) {
    super(554, `5.6.0 The message ${problem}`)
  }
}

/**
 * Reads a message to its end. Bytes beyond a limit are dropped, because a client reads the reply
 * only after it has sent everything. Rejects with the reply, or when the client disconnects.
 */
export async function receiveMessage(
  stream: SMTPServerDataStream,
  { client, bytesMax, budget }: ReceiveLimits,
): Promise<ReceivedMessage> {
  let blocks = new Blocks()
  let taken = 0
  let lines = 0
  let chunks = 0
  let problem: SmtpReply | undefined
  const pause = createTimeSlice()
  const resize = (bytes: number) => {
    budget.add(client, bytes - taken)
    taken = bytes
  }
  const refuse = (reply: SmtpReply) => {
    problem = reply
    blocks = new Blocks()
    resize(0)
  }
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      await pause()
      lines += countLines(chunk)
      chunks += 1
      if (lines > mailLimits.linesMax)
        throw new TooCostly(`has more than ${mailLimits.linesMax} lines`)
      if (chunks > smtpLimits.chunksMax)
        throw new TooCostly("has too many lines that begin with a dot, or comes in small pieces")
      if (problem) continue
      if (taken + chunk.length > bytesMax)
        refuse(new SmtpReply(552, `5.3.4 The message is larger than ${bytesMax} bytes`))
      else if (budget.take(client, chunk.length)) {
        taken += chunk.length
        blocks.append(chunk)
      } else refuse(new SmtpReply(452, "4.3.1 The server has no memory left; try again later"))
    }
    if (problem) throw problem
  } catch (error) {
    resize(0)
    throw error
  }
  return { pieces: blocks.list(), bytes: taken, resize, release: () => resize(0) }
}

const lineFeed = 0x0a

function countLines(chunk: Uint8Array): number {
  let lines = 0
  for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) lines += 1
  return lines
}

/**
 * Bytes in blocks of one size. A message may come in millions of chunks, one for each line that
 * begins with a dot, and each would keep what it is a part of.
 */
class Blocks {
  readonly #blocks: Uint8Array[] = []
  #end = smtpLimits.blockBytes

  append(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#end === smtpLimits.blockBytes) {
        this.#blocks.push(new Uint8Array(smtpLimits.blockBytes))
        this.#end = 0
      }
      const part = chunk.subarray(at, at + smtpLimits.blockBytes - this.#end)
      this.#blocks.at(-1)?.set(part, this.#end)
      this.#end += part.length
      at += part.length
    }
  }

  list(): readonly Uint8Array[] {
    const last = this.#blocks.at(-1)
    return last ? [...this.#blocks.slice(0, -1), last.subarray(0, this.#end)] : []
  }
}
