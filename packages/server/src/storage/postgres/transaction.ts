import type { ReservedSQL } from "bun"
import { allLast, type LastSteps, noteLast, type Script } from "../database/database.ts"
import { assertStorable, unavailable } from "../database/errors.ts"
import type { SqlValue, Statement } from "../database/sql.ts"
import { fromPostgresError, isConflict, isConnectionLost } from "./errors.ts"
import type { PostgresWatchdog } from "./watchdog.ts"

/**
 * Nothing of the transaction remains, and it may be tried again: others got in its way, or the
 * connection broke before the commit.
 */
export class Repeatable extends Error {
  constructor(override readonly cause: unknown) {
    super("the transaction may be repeated", { cause })
  }
}

export interface TransactionOptions {
  readonly watchdog: PostgresWatchdog
  /** How long each answer may take. */
  readonly answerMsMax: number
  /** Statements that come before those of the script. */
  readonly opening: readonly Statement[]
  onSilence(): void
}

/**
 * One attempt at a script, on a connection that nobody else uses. Gives the connection back in
 * order, or closed.
 */
export async function transact<T>(
  connection: ReservedSQL,
  script: () => Script<T>,
  options: TransactionOptions,
): Promise<T> {
  try {
    await ask(connection, { text: "begin", values: [] }, options)
    for (const statement of options.opening) await ask(connection, statement, options)
    const value = await run(connection, script, options)
    await commit(connection, options)
    return value
  } catch (error) {
    await rollBack(connection, options)
    throw error
  } finally {
    await connection.release()
  }
}

async function run<T>(
  connection: ReservedSQL,
  script: () => Script<T>,
  options: TransactionOptions,
): Promise<T> {
  const lastSteps: LastSteps = new Map()
  const value = await drive(script(), lastSteps, (statement) => ask(connection, statement, options))
  await drive(allLast(lastSteps), lastSteps, (statement) => ask(connection, statement, options))
  return value
}

async function drive<T>(
  steps: Script<T>,
  lastSteps: LastSteps,
  answer: (statement: Statement) => Promise<readonly unknown[]>,
): Promise<T> {
  let step = steps.next()
  while (!step.done)
    step = steps.next(
      "key" in step.value ? noteLast(lastSteps, step.value) : await answer(step.value),
    )
  return step.value
}

async function ask(
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
    // What PostgreSQL says to a commit after a statement had failed. We never get here after one,
    // and must never take it for success.
    if (command !== "COMMIT") throw new Error(`Cannot commit: the server answered ${command}`)
  } catch (error) {
    if (isConflict(error)) throw new Repeatable(error)
    // The commit may have happened, so repeating it is not ours to decide.
    if (isConnectionLost(error))
      throw unavailable(
        "the connection broke during a commit, which may or may not have happened",
        error,
      )
    throw fromPostgresError(error)
  }
}

/** A connection on which even this fails is closed, not given back. */
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
    deadline: performance.now() + options.answerMsMax,
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
    throw isSilent ? unavailable("it does not answer", error) : error
  } finally {
    options.watchdog.unwatch(watched)
  }
}
