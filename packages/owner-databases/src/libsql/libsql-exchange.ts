import { findRetryDelay, parseJson, toOwnJson } from "@hamlet/kit"
import { type LibsqlLimits, statementLimits } from "../database-limits.ts"
import {
  type LibsqlReply,
  type LibsqlStatement,
  LibsqlUnavailable,
} from "../libsql-protocol/libsql-server.ts"
import type { SqlOutcome } from "../owner-databases.ts"
import { type OwnStatement, recordDone } from "../worker/done-requests.ts"
import { toValue } from "../worker/libsql/plan-batch.ts"
import {
  findEndFailure,
  type GroupResults,
  readGroup,
  readResults,
  type StepError,
  unexpectedMessage,
} from "../worker/libsql/read-results.ts"
import { toFullMessage } from "../worker/sql-errors.ts"
import { knownLimits, type LibsqlWorkerReply, type Plan, type ReadCall } from "./libsql-messages.ts"
import type { PlannedGroup, Request } from "./libsql-request.ts"
import type { LibsqlStreams } from "./libsql-streams.ts"
import type { LibsqlWorkers } from "./libsql-workers.ts"

type Results = readonly [LibsqlWorkerReply, Buffer]

/** Sends batches, and has their results read: small ones here, others by a worker. */
export class LibsqlExchange {
  readonly #streams: LibsqlStreams
  readonly #workers: LibsqlWorkers
  readonly #limits: LibsqlLimits

  constructor(streams: LibsqlStreams, workers: LibsqlWorkers, limits: LibsqlLimits) {
    this.#streams = streams
    this.#workers = workers
    this.#limits = limits
  }

  /** Sends a batch, has its results read, and records an idempotent request that writes. */
  async send(
    { ownerId, namespace, idempotent }: Request,
    { isRead, isHeld, isRecorded }: Plan,
    batch: string,
    call: ReadCall,
    signal: AbortSignal,
  ): Promise<Results> {
    const options = { signal, bytesMax: this.#limits.replyBytesMax, isHeld }
    const { reply, stream } = await this.retry(isRead, signal, () =>
      this.#streams.send(namespace, batch, options),
    )
    let open = stream
    let isDone = false
    try {
      const read = await this.#read(ownerId, call, reply)
      isDone = read[0].kind === "done"
      if (!isHeld || !stream || !isDone) return read
      open = undefined
      const last = isRecorded && idempotent ? recordDone(idempotent, read[1]).map(toSent) : []
      const ended = await this.#streams.commit(stream, last, {
        ...options,
        bytesMax: knownLimits.jsonBytesMax,
      })
      // Foreign keys may be checked at the end only.
      const failure = ended.kind === "done" ? findFailure(ended.bytes, call) : lost
      return failure === undefined ? read : [failure, empty]
    } finally {
      // Closing it ends a transaction without a change.
      this.#streams.release(open, isDone)
    }
  }

  /**
   * Sends requests to one database as one batch. Undefined if they have to be sent one by one: reads, and
   * changes that have certainly not been made.
   */
  async sendTogether(group: PlannedGroup, signal: AbortSignal): Promise<GroupResults | undefined> {
    try {
      return await this.#sendGroup(group, signal)
    } catch (error) {
      const isUnsent = error instanceof LibsqlUnavailable && !error.isSent
      if (group.isRead || isUnsent) return undefined
      throw error
    }
  }

  async #sendGroup(
    { namespace, isRead, batch, calls }: PlannedGroup,
    signal: AbortSignal,
  ): Promise<GroupResults | undefined> {
    const options = { signal, bytesMax: this.#limits.replyBytesMax }
    const { reply, stream } = await this.#streams.send(namespace, batch, options)
    let read: GroupResults | undefined
    try {
      if (reply.kind === "no_namespace") return undefined
      if (reply.kind !== "done") throw new LibsqlUnavailable(lostMessage, true)
      // Changes have no rows: their results are as small as the batch.
      if (isRead && !isSmall(reply.bytes)) return undefined
      read = readGroup(calls, parse(reply.bytes), statementLimits)
      return read
    } catch (error) {
      if (error instanceof LibsqlUnavailable) throw error
      throw new LibsqlUnavailable(unexpectedMessage, true, { cause: error })
    } finally {
      this.#streams.release(stream, read !== undefined)
    }
  }

  /** What was certainly not done, or only reads, is tried again: the server may be starting. */
  async retry<T>(isRead: boolean, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await act()
      } catch (error) {
        const canRepeat = error instanceof LibsqlUnavailable && (isRead || !error.isSent)
        const delayMs = findRetryDelay(this.#limits.backoff, { attempts })
        if (!canRepeat || signal.aborted || delayMs === undefined) throw error
        await Bun.sleep(delayMs)
      }
    }
  }

  async #read(ownerId: string, call: ReadCall, reply: LibsqlReply): Promise<Results> {
    switch (reply.kind) {
      case "done": {
        const { bytes } = reply
        if (!isSmall(bytes)) return this.#workers.call(ownerId, toOwnJson(call), bytes)
        const [read, json = empty] = readResults(call, () => parse(bytes), statementLimits)
        return [read, json]
      }
      case "no_namespace":
        return [{ kind: "schema_needed" }, empty]
      case "no_stream":
        return [lost, empty]
      case "too_large":
        return [tooLarge, empty]
    }
  }
}

const empty = Buffer.alloc(0)

function isSmall(bytes: Uint8Array): boolean {
  return bytes.length <= knownLimits.jsonBytesMax
}

function parse({ buffer, byteOffset, byteLength }: Uint8Array): unknown {
  return parseJson(Buffer.from(buffer, byteOffset, byteLength).toString(), byteLength)
}

const lostMessage = "the libSQL server has ended its connection"

const lost: LibsqlWorkerReply = {
  kind: "outcome",
  outcome: { kind: "unavailable", message: lostMessage },
}

const tooLarge: LibsqlWorkerReply = {
  kind: "outcome",
  outcome: {
    kind: "failed",
    message: `the result is larger than ${statementLimits.resultBytesMax} bytes`,
  },
}

/** Why the end of a transaction has failed. */
function findFailure(bytes: Uint8Array, { bytesMax }: ReadCall): LibsqlWorkerReply | undefined {
  try {
    const error = findEndFailure(parse(bytes))
    if (!error) return undefined
    return { kind: "outcome", outcome: toEndOutcome(error, bytesMax) }
  } catch {
    return { kind: "outcome", outcome: { kind: "unavailable", message: unexpectedMessage } }
  }
}

function toEndOutcome({ message: text, code = "" }: StepError, bytesMax: number): SqlOutcome {
  const message = text.replace(/^SQLite error: /, "")
  if (code.startsWith("SQLITE_FULL")) return { kind: "full", message: toFullMessage(bytesMax) }
  if (!message.includes("constraint failed")) return { kind: "unavailable", message }
  return { kind: "failed", message, sqliteCode: "SQLITE_CONSTRAINT" }
}

/** A statement of our own as the server takes it. */
function toSent({ sql, args }: OwnStatement): LibsqlStatement {
  return { sql, args: args.map(toValue) }
}
