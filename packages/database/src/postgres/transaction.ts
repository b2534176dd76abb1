import type { Refused, Watchdog, Watched } from "@hamlet/kit"
import type { ReservedSQL } from "bun"
import type { Script } from "../database.ts"
import { assertStorable, unavailable } from "../errors.ts"
import { runScripts } from "../run-scripts.ts"
import { raw, type SqlValue, type Statement } from "../sql.ts"
import { fromPostgresError, isClosedByServer, isConflict, isConnectionLost } from "./errors.ts"
import { type PostgresResult, toPostgresRecords } from "./result.ts"

/** Statements that are sent before anything waits for their results. */
const unreadMax = 16

/**
 * The transaction was rolled back and may be retried: it conflicted with others, or the connection
 * broke before the commit.
 */
export class Repeatable extends Error {
  constructor(override readonly cause: unknown) {
    super("the transaction may be repeated", { cause })
  }
}

export interface TransactionOptions {
  readonly watchdog: Watchdog
  /** How long the result of each statement may take. */
  readonly resultMsMax: number
  /** Statements that come before those of the script. */
  readonly opening: readonly Statement[]
  onSilence(): void
  /** Called after the commit, for each channel that a statement names. */
  onNotice(channel: string): void
}

/**
 * One attempt at a script, on a connection reserved for it. Returns the connection to the pool, or
 * closes it.
 */
export async function transact<T>(
  connection: ReservedSQL,
  script: () => Script<T>,
  options: TransactionOptions,
): Promise<T> {
  const pipeline = new Pipeline(connection, options)
  const notices = new Set<string>()
  const { runScript, runLast } = runScripts(
    (statement) => (statement.isRead ? pipeline.read(statement) : pipeline.send(statement)),
    notices,
  )
  try {
    for (const statement of [raw("begin"), ...options.opening]) await pipeline.send(statement)
    const value = await runScript(script())
    await runLast()
    await pipeline.commit()
    for (const channel of notices) options.onNotice(channel)
    return value
  } catch (error) {
    await pipeline.rollBack()
    throw error
  } finally {
    await connection.release()
  }
}

/** Sends one statement, which is a transaction of its own. */
export async function sendAlone(
  connection: ReservedSQL,
  statement: Statement,
  options: TransactionOptions,
): Promise<readonly unknown[]> {
  try {
    const found = await new Pipeline(connection, options).sendLast(statement)
    if (statement.notice !== undefined) options.onNotice(statement.notice)
    return toPostgresRecords(found)
  } finally {
    await connection.release()
  }
}

/**
 * The statements of one transaction, in order. A statement is sent without waiting for the results of
 * those before it: a script of eight statements waits for the server three times instead of ten. The
 * first error is thrown; the server refuses all statements after it, the commit too.
 */
class Pipeline {
  readonly #connection: ReservedSQL
  readonly #options: TransactionOptions
  /** Results that nothing has waited for. */
  readonly #unread: Promise<unknown>[] = []
  readonly #watched: Watched
  #deadline = 0
  #inFlight = 0
  #isSilent = false

  constructor(connection: ReservedSQL, options: TransactionOptions) {
    this.#connection = connection
    this.#options = options
    this.#watched = {
      check: (nowMs) => {
        if (nowMs < this.#deadline) return false
        this.#isSilent = true
        options.onSilence()
        void connection.close({ timeout: 0 })
        return true
      },
    }
  }

  /** Sends a statement. It waits only when very many have been sent before. */
  async send(statement: Statement): Promise<void> {
    if (this.#unread.length >= unreadMax) await this.#settle()
    this.#unread.push(this.#query(statement))
  }

  async read(statement: Statement): Promise<readonly unknown[]> {
    const found = this.#query(statement)
    await this.#settle()
    try {
      return toPostgresRecords(await found)
    } catch (error) {
      throw toOpenError(error)
    }
  }

  async commit(): Promise<void> {
    const { command } = await this.sendLast(raw("commit"))
    // After a failed statement PostgreSQL responds to a commit with ROLLBACK, which we must never
    // treat as success.
    if (command !== "COMMIT") throw new Error(`Cannot commit: the server responded ${command}`)
  }

  /** Sends the statement that ends the transaction, and waits for all results. */
  async sendLast(statement: Statement): Promise<PostgresResult> {
    const unread = this.#unread.splice(0)
    const last = this.#query(statement)
    try {
      for (const result of unread) await assertNotClosed(result)
      return await last
    } catch (error) {
      if (error instanceof Repeatable) throw error
      if (isConflict(error)) throw new Repeatable(error)
      throw isConnectionLost(error) ? maybeCommitted(error) : fromPostgresError(error)
    }
  }

  /** Closes the connection when even the rollback fails. */
  async rollBack(): Promise<void> {
    try {
      await this.#query(raw("rollback"))
    } catch {
      await this.#connection.close({ timeout: 0 })
    }
  }

  async #settle(): Promise<void> {
    try {
      for (const unread of this.#unread.splice(0)) await unread
    } catch (error) {
      throw toOpenError(error)
    }
  }

  #query({ text, values }: Statement): Promise<PostgresResult> {
    assertStorable(values)
    const { watchdog, resultMsMax } = this.#options
    if (this.#inFlight === 0) watchdog.add(this.#watched)
    this.#inFlight += 1
    this.#deadline = performance.now() + resultMsMax
    const result = this.#receive(text, values)
    // The result may be a failure before anything waits for it.
    result.catch(() => {})
    return result
  }

  async #receive(text: string, values: readonly SqlValue[]): Promise<PostgresResult> {
    const { watchdog, resultMsMax } = this.#options
    try {
      const query = this.#connection.unsafe<PostgresResult>(text, values as SqlValue[])
      return (await query.values()) as PostgresResult
    } catch (error) {
      throw this.#isSilent ? unavailable("it does not respond", error) : error
    } finally {
      this.#inFlight -= 1
      this.#deadline = performance.now() + resultMsMax
      if (this.#inFlight === 0) watchdog.remove(this.#watched)
    }
  }
}

/** Waits for a statement before the commit: where the server has closed the connection, it did not commit. */
async function assertNotClosed(result: Promise<unknown>): Promise<void> {
  try {
    await result
  } catch (error) {
    throw isClosedByServer(error) ? new Repeatable(error) : error
  }
}

/** The error of a statement of a transaction that has not been committed. */
function toOpenError(error: unknown): unknown {
  return isConnectionLost(error) || isConflict(error)
    ? new Repeatable(error)
    : fromPostgresError(error)
}

/** The caller decides whether to repeat it. */
function maybeCommitted(error: unknown): Refused {
  return unavailable(
    "the connection broke during a commit, which may or may not have happened",
    error,
  )
}
