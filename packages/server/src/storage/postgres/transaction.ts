import type { ReservedSQL } from "bun"
import type { AppError } from "../../domain/app-error.ts"
import { allLast, deferLast, type LastSteps, type Script } from "../database/database.ts"
import { assertStorable, unavailable } from "../database/errors.ts"
import type { SqlValue, Statement } from "../database/sql.ts"
import { fromPostgresError, isConflict, isConnectionLost } from "./errors.ts"
import type { PostgresWatchdog } from "./watchdog.ts"

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
  readonly watchdog: PostgresWatchdog
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
  const notices = new Set<string>()
  try {
    await query(connection, { text: "begin", values: [] }, options)
    for (const statement of options.opening) await query(connection, statement, options)
    const value = await run(connection, script, options, notices)
    await commit(connection, options)
    for (const channel of notices) options.onNotice(channel)
    return value
  } catch (error) {
    await rollBack(connection, options)
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
  assertStorable(statement.values)
  try {
    const found = await send(connection, statement, options)
    if (statement.notice !== undefined) options.onNotice(statement.notice)
    return found
  } catch (error) {
    if (isConflict(error)) throw new Repeatable(error)
    throw isConnectionLost(error) ? maybeCommitted(error) : fromPostgresError(error)
  } finally {
    await connection.release()
  }
}

async function run<T>(
  connection: ReservedSQL,
  script: () => Script<T>,
  options: TransactionOptions,
  notices: Set<string>,
): Promise<T> {
  const lastSteps: LastSteps = new Map()
  const send = (statement: Statement) => {
    if (statement.notice !== undefined) notices.add(statement.notice)
    return query(connection, statement, options)
  }
  const value = await drive(script(), lastSteps, send)
  await drive(allLast(lastSteps), lastSteps, send)
  return value
}

async function drive<T>(
  steps: Script<T>,
  lastSteps: LastSteps,
  run: (statement: Statement) => Promise<readonly unknown[]>,
): Promise<T> {
  let step = steps.next()
  while (!step.done)
    step = steps.next(
      "key" in step.value ? deferLast(lastSteps, step.value) : await run(step.value),
    )
  return step.value
}

async function query(
  connection: ReservedSQL,
  statement: Statement,
  options: TransactionOptions,
): Promise<readonly unknown[]> {
  assertStorable(statement.values)
  try {
    return await send(connection, statement, options)
  } catch (error) {
    throw isConnectionLost(error) || isConflict(error)
      ? new Repeatable(error)
      : fromPostgresError(error)
  }
}

async function commit(connection: ReservedSQL, options: TransactionOptions): Promise<void> {
  try {
    const { command } = await send(connection, { text: "commit", values: [] }, options)
    // After a failed statement PostgreSQL responds to a commit with ROLLBACK. We never commit after
    // one, and must never treat that response as success.
    if (command !== "COMMIT") throw new Error(`Cannot commit: the server responded ${command}`)
  } catch (error) {
    if (isConflict(error)) throw new Repeatable(error)
    throw isConnectionLost(error) ? maybeCommitted(error) : fromPostgresError(error)
  }
}

/** The caller decides whether to repeat it. */
function maybeCommitted(error: unknown): AppError {
  return unavailable(
    "the connection broke during a commit, which may or may not have happened",
    error,
  )
}

/** Closes the connection when even the rollback fails. */
async function rollBack(connection: ReservedSQL, options: TransactionOptions): Promise<void> {
  try {
    await send(connection, { text: "rollback", values: [] }, options)
  } catch {
    await connection.close({ timeout: 0 })
  }
}

async function send(
  connection: ReservedSQL,
  { text, values }: Statement,
  options: TransactionOptions,
) {
  let isSilent = false
  const watched = {
    deadline: performance.now() + options.resultMsMax,
    onOverdue: () => {
      isSilent = true
      options.onSilence()
      void connection.close({ timeout: 0 })
    },
  }
  options.watchdog.watch(watched)
  try {
    return await connection.unsafe<unknown[]>(text, values as SqlValue[])
  } catch (error) {
    throw isSilent ? unavailable("it does not respond", error) : error
  } finally {
    options.watchdog.unwatch(watched)
  }
}
