import { fileURLToPath } from "node:url"
import { parseJson, toOwnJson, WorkerPool, WorkerPoolError } from "@hamlet/kit"
import {
  type WorkerLimits,
  type WorkerOptions,
  type WorkerOutcome,
  WorkerProcessPool,
  workerDefaults,
} from "@hamlet/sandbox"
import { AppError } from "../../domain/app-error.ts"
import {
  type MailConnection,
  type MailReader,
  MailRefused,
  type ReadMail,
} from "../../domain/mail/inbound/mail.ts"
import type { LookupJob } from "./look-up-sender.ts"
import { messageLimits } from "./message-limits.ts"
import type { ReaderRequest, ReaderResponse } from "./reader-messages.ts"
import type { SenderFindings } from "./sender-records.ts"

/** How messages are read. */
export interface MailReaderOptions
  extends Pick<WorkerOptions, "isolation" | "onWeak">,
    Pick<LookupJob, "serverName" | "nameServers"> {
  /** The size of a message. */
  readonly messageBytesMax: number
  readonly limits?: Partial<WorkerLimits>
}

const program = fileURLToPath(new URL("./reader-main.ts", import.meta.url))
const headerEnd = Buffer.from("\r\n\r\n")

const mega = 1024 ** 2

/** What the meta data of a message may take beside its content. */
const summaryBytesMax = 4 * mega
/** The header of a mail and what name servers say about its sender are far shorter. */
const jsonCharsMax = 1_000_000

/**
 * What reading messages of that size may cost. An ordinary message takes a few milliseconds; one of
 * 25 MB takes a second and 250 MB.
 */
function toReaderLimits(messageBytesMax: number): WorkerLimits {
  return {
    ...workerDefaults,
    requestMsMax: 15_000,
    startMsMax: 20_000,
    memoryBytesMax: 256 * mega + 12 * messageBytesMax,
    checkRequests: 100,
    lifeSecondsMax: 120,
    responseBytesMax: messageBytesMax + messageLimits.growthBytesMax + summaryBytesMax,
    waitingMax: 200,
    waitingPerKeyMax: 50,
    // The mail server limits the bytes of all messages that wait.
    waitingBytesMax: Number.POSITIVE_INFINITY,
    waitMsMax: 60_000,
  }
}

/** Threads that ask name servers. Their input is small; it is the answers that take time. */
const lookupLimits = {
  workersMax: 4,
  /** Most of the time a thread waits for name servers, which a sender may slow down. */
  jobsPerWorkerMax: 16,
  waitingMax: 128,
  /** Name servers get 12 seconds of it. */
  jobMsMax: 40_000,
}

/**
 * Reads messages in worker processes, which a hostile message can fill or keep busy without harm to
 * the server. They have no network, so the server finds what name servers say about the sender:
 *
 * ```
 *   header ──▶ process ──▶ names ──▶ thread ──▶ records
 *                                                  │
 *   message ───────────────────────────────────────┴──▶ process ──▶ mail
 * ```
 */
export class ProcessMailReader implements MailReader {
  readonly #options: MailReaderOptions
  readonly #processes: WorkerProcessPool
  readonly #lookups = new WorkerPool<LookupJob, SenderFindings>({
    script: new URL("./lookup-thread.ts", import.meta.url),
    ...lookupLimits,
  })

  constructor(options: MailReaderOptions) {
    this.#options = options
    const { isolation, onWeak } = options
    const limits = { ...toReaderLimits(options.messageBytesMax), ...options.limits }
    this.#processes = new WorkerProcessPool({
      isolation,
      onWeak,
      program,
      limits,
      isRepeatable: true,
    })
  }

  /** The ids of the processes. */
  get pids(): readonly number[] {
    return this.#processes.pids
  }

  async read(
    raw: readonly Uint8Array[],
    owner: string,
    connection?: MailConnection,
  ): Promise<ReadMail> {
    const bytes = raw.reduce((sum, piece) => sum + piece.length, 0)
    if (bytes > this.#options.messageBytesMax)
      throw new MailRefused("invalid_message", "the message is too large")
    const origin = connection && {
      connection,
      findings: await this.#lookUp(findHeader(raw), owner, connection),
    }
    const response = await this.#run(owner, { task: "read", origin }, raw)
    if (response.message.kind !== "mail") throw new Error("A reader process sent another response")
    return { ...response.message.mail, content: response.bytes }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#processes.stop(), this.#lookups.stop()])
  }

  async #lookUp(
    header: Uint8Array,
    owner: string,
    connection: MailConnection,
  ): Promise<SenderFindings> {
    const { serverName, nameServers } = this.#options
    const request = { task: "find_sender", mailFrom: connection.mailFrom } as const
    const { message } = await this.#run(owner, request, [header])
    if (message.kind !== "sender") throw new Error("A reader process sent another response")
    const job = { connection, names: message.names, serverName, nameServers }
    try {
      return await this.#lookups.run(owner, job)
    } catch (error) {
      if (!(error instanceof WorkerPoolError)) throw error
      throw toOverloaded(error.message)
    }
  }

  async #run(owner: string, request: ReaderRequest, bytes: readonly Uint8Array[]) {
    const outcome = await this.#processes.run(owner, toOwnJson(request), bytes)
    if (outcome.kind !== "responded") throw toError(outcome)
    const message = parseJson(outcome.head, jsonCharsMax) as ReaderResponse
    if (message.kind === "refused") throw new MailRefused("invalid_message", message.problem)
    return { message, bytes: outcome.bytes }
  }
}

/** The header of a message. It is refused if it is longer than that of any ordinary message. */
function findHeader(raw: readonly Uint8Array[]): Uint8Array {
  const { headerBytesMax } = messageLimits
  let header: Buffer = Buffer.alloc(0)
  for (const piece of raw) {
    const missing = headerBytesMax + headerEnd.length - header.length
    if (missing <= 0) break
    header = Buffer.concat([header, piece.subarray(0, missing)])
  }
  const end = header.indexOf(headerEnd)
  if (end !== -1) return header.subarray(0, end + headerEnd.length)
  if (header.length > headerBytesMax)
    throw new MailRefused("invalid_message", "the header of the message is too long")
  return header
}

/** Why a message was not read. It is refused for good only where a retry would end in the same way. */
function toError(outcome: Exclude<WorkerOutcome, { readonly kind: "responded" }>): Error {
  if (outcome.kind === "timed_out")
    return new MailRefused("timed_out", "the message took too long to read; try again later")
  if (outcome.kind === "out_of_memory")
    return new MailRefused("invalid_message", "the message takes too much memory to read")
  return toOverloaded(outcome.kind)
}

function toOverloaded(reason: string): AppError {
  return new AppError("overloaded", `Cannot read the message now: ${reason}`)
}
