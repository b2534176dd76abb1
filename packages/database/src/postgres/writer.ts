import { currentWork, FairSlots, toRetryDelay, type Watchdog } from "@hamlet/kit"
import type { ReservedSQL, SQL } from "bun"
import type { Script, WriteOptions } from "../database.ts"
import { tooManyWaiting, unavailable } from "../errors.ts"
import { raw, type Statement } from "../sql.ts"
import type { PostgresLimits } from "./client.ts"
import { fromPostgresError, isConnectionLost } from "./errors.ts"
import type { PostgresPool } from "./pool.ts"
import { Repeatable, sendAlone, type TransactionOptions, transact } from "./transaction.ts"

interface WriterOptions {
  readonly pool: PostgresPool
  readonly connectionsMax: number
  readonly watchdog: Watchdog
  readonly limits: PostgresLimits
  /** Called after a commit, for each channel that a statement names. */
  onNotice(channel: string): void
}

/**
 * Runs scripts as transactions, each on a connection reserved for it. The owners for whom they write
 * take turns, and none of them gets all connections: what waits for a row may wait for seconds.
 */
export class PostgresWriter {
  readonly #options: WriterOptions
  readonly #running = new Set<Promise<unknown>>()
  readonly #turns: FairSlots
  #inUse = 0
  #isStopping = false

  constructor(options: WriterOptions) {
    this.#options = options
    this.#turns = createTurns(options)
  }

  get inUse(): number {
    return this.#inUse
  }

  get waiting(): number {
    return this.#running.size - this.#inUse
  }

  write<T>(
    script: () => Script<T>,
    { isPatient = false, inTurnOf }: WriteOptions = {},
  ): Promise<T> {
    const owner = currentWork()?.owner ?? ofServer
    return this.#run(owner, inTurnOf, () => this.#attempt(script, isPatient))
  }

  /** The statement may serve several owners. */
  writeOne(statement: Statement): Promise<readonly unknown[]> {
    return this.#run(ofServer, undefined, () =>
      this.#withConnection((connection, options) => sendAlone(connection, statement, options)),
    )
  }

  async #run<T>(
    owner: string,
    inTurnOf: string | undefined,
    attempt: () => Promise<T>,
  ): Promise<T> {
    if (this.#isStopping) throw unavailable("it is closed")
    if (this.#running.size >= this.#options.limits.writesMax)
      throw unavailable("too many writes are waiting")
    const running = this.#turns.run(owner, () => this.#repeat(attempt), { alone: inTurnOf })
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.allSettled(this.#running)
    await this.#options.pool.stop(0)
  }

  async #repeat<T>(attempt: () => Promise<T>): Promise<T> {
    for (let count = 1; ; count += 1) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof Repeatable)) throw error
        if (count >= this.#options.limits.attemptsMax) throw fromPostgresError(error.cause)
        await Bun.sleep(toRetryDelay(this.#options.limits.repeatBackoff, count))
      }
    }
  }

  #attempt<T>(script: () => Script<T>, isPatient: boolean): Promise<T> {
    const { silenceMsMax, patientMsMax, statementMsMax } = this.#options.limits
    return this.#withConnection((connection, options) =>
      transact(
        connection,
        script,
        isPatient
          ? {
              ...options,
              resultMsMax: silenceMsMax + patientMsMax,
              opening: [
                raw(`set local statement_timeout = ${patientMsMax}`),
                raw(`set local lock_timeout = ${patientMsMax}`),
                // A migration may compute between two statements.
                raw(`set local idle_in_transaction_session_timeout = ${statementMsMax}`),
              ],
            }
          : options,
      ),
    )
  }

  async #withConnection<T>(
    work: (connection: ReservedSQL, options: TransactionOptions) => Promise<T>,
  ): Promise<T> {
    const { pool, watchdog, limits, onNotice } = this.#options
    const { client } = pool
    const connection = await this.#reserve(client)
    this.#inUse += 1
    try {
      return await work(connection, {
        watchdog,
        resultMsMax: limits.silenceMsMax + limits.statementMsMax,
        opening: [],
        onSilence: () => pool.replace(client),
        onNotice,
      })
    } finally {
      this.#inUse -= 1
    }
  }

  async #reserve(client: SQL): Promise<ReservedSQL> {
    const controller = new AbortController()
    const timer = setTimeout(
      () => controller.abort(unavailable("all connections are in use")),
      this.#options.limits.waitMsMax,
    )
    try {
      return await client.reserve({ signal: controller.signal })
    } catch (error) {
      throw isConnectionLost(error) ? new Repeatable(error) : fromPostgresError(error)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** The writes of the server itself, which are limited by what they serve. */
const ofServer = ""

function createTurns({ limits, connectionsMax }: WriterOptions): FairSlots {
  const { writesMax, ownerWritesMax, ownerShare, waitMsMax } = limits
  const ownerMax = Math.max(1, Math.floor(connectionsMax * ownerShare))
  const turns = new FairSlots(
    connectionsMax,
    {
      waitingMax: writesMax,
      waitMsMax,
      waitingPerKeyMax: (key) => (key === ofServer ? writesMax : ownerWritesMax),
      runningPerKeyMax: (key) => (key === ofServer ? connectionsMax : ownerMax),
    },
    (key) =>
      key !== ofServer && turns.isBusy(key)
        ? tooManyWaiting()
        : unavailable("all connections are in use"),
  )
  return turns
}
