import { assertStorable, unavailable } from "../database/errors.ts"
import type { SqlValue, Statement } from "../database/sql.ts"
import type { PostgresLimits } from "./client.ts"
import { fromPostgresError, isConnectionLost } from "./errors.ts"
import type { PostgresPool } from "./pool.ts"
import type { PostgresWatchdog, Watched } from "./watchdog.ts"

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

  /**
   * A read changes nothing, so it is asked again when the connection broke under it. Not only once:
   * when a server ends all connections, the next one to be used may be another that broke and whose
   * end has not arrived yet.
   */
  async #ask(statement: Statement): Promise<readonly unknown[]> {
    const { statementMsMax, silenceMsMax, attemptsMax, repeatMs } = this.#limits
    const deadline = performance.now() + statementMsMax + silenceMsMax
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#askOnce(statement, deadline)
      } catch (error) {
        if (!isConnectionLost(error) || attempt >= attemptsMax || performance.now() >= deadline)
          throw error
        // Bun refuses at once while nothing listens: without a pause, callers that try again would
        // leave the event loop no turn.
        await Bun.sleep(Math.random() * repeatMs * 2 ** attempt)
      }
    }
  }

  async #askOnce({ text, values }: Statement, deadline: number): Promise<readonly unknown[]> {
    const { client } = this.#pool
    // Bun does not say which connection a query is on, so all of them go; what else was under way
    // is asked again over new ones.
    const watched: Watched = { deadline, onOverdue: () => this.#pool.replace(client) }
    this.#watchdog.watch(watched)
    try {
      return await client.unsafe<readonly unknown[]>(text, values as SqlValue[])
    } finally {
      this.#watchdog.unwatch(watched)
    }
  }
}
