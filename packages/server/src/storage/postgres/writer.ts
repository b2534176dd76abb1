import type { ReservedSQL, SQL } from "bun"
import type { Script } from "../database/database.ts"
import { unavailable } from "../database/errors.ts"
import { raw } from "../database/sql.ts"
import type { PostgresLimits } from "./client.ts"
import { fromPostgresError, isConnectionLost } from "./errors.ts"
import type { PostgresPool } from "./pool.ts"
import { Repeatable, transact } from "./transaction.ts"
import type { PostgresWatchdog } from "./watchdog.ts"

/** Runs scripts as transactions, each on a connection reserved for it. */
export class PostgresWriter {
  readonly #pool: PostgresPool
  readonly #watchdog: PostgresWatchdog
  readonly #limits: PostgresLimits
  readonly #running = new Set<Promise<unknown>>()
  #inUse = 0
  #isStopping = false

  constructor(pool: PostgresPool, watchdog: PostgresWatchdog, limits: PostgresLimits) {
    this.#pool = pool
    this.#watchdog = watchdog
    this.#limits = limits
  }

  get inUse(): number {
    return this.#inUse
  }

  get waiting(): number {
    return this.#running.size - this.#inUse
  }

  async write<T>(script: () => Script<T>, isPatient: boolean): Promise<T> {
    if (this.#isStopping) throw unavailable("it is closed")
    if (this.#running.size >= this.#limits.writesMax)
      throw unavailable("too many writes are waiting")
    const running = this.#repeat(script, isPatient)
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
    await this.#pool.stop(0)
  }

  async #repeat<T>(script: () => Script<T>, isPatient: boolean): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(script, isPatient)
      } catch (error) {
        if (!(error instanceof Repeatable)) throw error
        if (attempt >= this.#limits.attemptsMax) throw fromPostgresError(error.cause)
        // A random time, so that transactions that conflicted do not collide again.
        await Bun.sleep(Math.random() * this.#limits.repeatMs * 2 ** attempt)
      }
    }
  }

  async #attempt<T>(script: () => Script<T>, isPatient: boolean): Promise<T> {
    const { client } = this.#pool
    const { statementMsMax, silenceMsMax, patientMsMax } = this.#limits
    const connection = await this.#reserve(client)
    this.#inUse += 1
    try {
      return await transact(connection, script, {
        watchdog: this.#watchdog,
        resultMsMax: silenceMsMax + (isPatient ? patientMsMax : statementMsMax),
        opening: isPatient
          ? [
              raw(`set local statement_timeout = ${patientMsMax}`),
              raw(`set local lock_timeout = ${patientMsMax}`),
            ]
          : [],
        onSilence: () => this.#pool.replace(client),
      })
    } finally {
      this.#inUse -= 1
    }
  }

  async #reserve(client: SQL): Promise<ReservedSQL> {
    const controller = new AbortController()
    const timer = setTimeout(
      () => controller.abort(unavailable("all connections are in use")),
      this.#limits.waitMsMax,
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
