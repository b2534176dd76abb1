import { toRetryDelay, type Watchdog } from "@hamlet/kit"
import { assertStorable, unavailable } from "../errors.ts"
import type { SqlValue, Statement } from "../sql.ts"
import type { PostgresLimits } from "./client.ts"
import { fromPostgresError, isConnectionLost } from "./errors.ts"
import type { PostgresPool } from "./pool.ts"
import { type PostgresResult, toPostgresRecords } from "./result.ts"

/** Sends reads, several at a time over each connection. */
export class PostgresReader {
  readonly #pool: PostgresPool
  readonly #watchdog: Watchdog
  readonly #limits: PostgresLimits
  #inFlight = 0
  #isStopping = false

  constructor(pool: PostgresPool, watchdog: Watchdog, limits: PostgresLimits) {
    this.#pool = pool
    this.#watchdog = watchdog
    this.#limits = limits
  }

  get inFlight(): number {
    return this.#inFlight
  }

  async read(statement: Statement): Promise<readonly unknown[]> {
    if (this.#isStopping) throw unavailable("it is closed")
    if (this.#inFlight >= this.#limits.readsMax) throw unavailable("too many reads are waiting")
    assertStorable(statement.values)
    this.#inFlight += 1
    try {
      return await this.#retry(statement)
    } catch (error) {
      throw fromPostgresError(error)
    } finally {
      this.#inFlight -= 1
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#pool.stop(this.#limits.stopMsMax)
  }

  /**
   * A read changes nothing, so it is retried when its connection breaks. More than once: when a
   * server closes all connections, the next one may be broken too, without the client knowing yet.
   */
  async #retry(statement: Statement): Promise<readonly unknown[]> {
    const { statementMsMax, silenceMsMax, attemptsMax, repeatBackoff } = this.#limits
    const deadline = performance.now() + statementMsMax + silenceMsMax
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#query(statement, deadline)
      } catch (error) {
        if (!isConnectionLost(error) || attempt >= attemptsMax || performance.now() >= deadline)
          throw error
        // Bun fails at once while no server listens: without a pause, the retries would starve the
        // event loop.
        await Bun.sleep(toRetryDelay(repeatBackoff, attempt))
      }
    }
  }

  async #query({ text, values }: Statement, deadline: number): Promise<readonly unknown[]> {
    const { client } = this.#pool
    // Bun does not expose the connection of a query, so all connections are replaced; the other
    // queries in flight are retried over new ones.
    const watched = {
      check: (nowMs: number) => {
        if (nowMs < deadline) return false
        this.#pool.replace(client)
        return true
      },
    }
    this.#watchdog.add(watched)
    try {
      const query = client.unsafe<PostgresResult>(text, values as SqlValue[])
      return toPostgresRecords((await query.values()) as PostgresResult)
    } finally {
      this.#watchdog.remove(watched)
    }
  }
}
