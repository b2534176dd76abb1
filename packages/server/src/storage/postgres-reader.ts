import { assertStorable, unavailable } from "./database-errors.ts"
import type { PostgresLimits } from "./postgres-client.ts"
import { fromPostgresError, isConnectionLost } from "./postgres-errors.ts"
import type { PostgresPool } from "./postgres-pool.ts"
import type { PostgresWatchdog, Watched } from "./postgres-watchdog.ts"
import type { SqlValue, Statement } from "./sql.ts"

/** Sends reads, several at a time over each connection. */
export class PostgresReader {
  readonly #pool: PostgresPool
  readonly #watchdog: PostgresWatchdog
  readonly #limits: PostgresLimits
  #inFlight = 0
  #isStopping = false

  constructor(pool: PostgresPool, watchdog: PostgresWatchdog, limits: PostgresLimits) {
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
      return await this.#ask(statement)
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

  /** A read changes nothing, so it is asked again, once, when the connection broke under it. */
  async #ask(statement: Statement): Promise<readonly unknown[]> {
    const deadline = performance.now() + this.#limits.statementMsMax + this.#limits.silenceMsMax
    try {
      return await this.#askOnce(statement, deadline)
    } catch (error) {
      if (!isConnectionLost(error) || performance.now() >= deadline) throw error
      // Bun refuses at once while nothing listens. Without a pause, callers that try again would leave the event loop no turn.
      await Bun.sleep(this.#limits.repeatMs)
      return await this.#askOnce(statement, deadline)
    }
  }

  async #askOnce({ text, values }: Statement, deadline: number): Promise<readonly unknown[]> {
    const { client } = this.#pool
    // Bun does not say which connection a query is on, so all of them go; what else was under way is asked again over new ones.
    const watched: Watched = { deadline, onOverdue: () => this.#pool.replace(client) }
    this.#watchdog.watch(watched)
    try {
      return await client.unsafe<readonly unknown[]>(text, values as SqlValue[])
    } finally {
      this.#watchdog.unwatch(watched)
    }
  }
}
