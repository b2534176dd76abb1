import type { Dialect } from "./dialect.ts"
import type { Statement } from "./sql.ts"

/**
 * A transaction, written once for both databases: it yields statements and is sent their rows. SQLite runs it synchronously, so that
 * nothing can come between; PostgreSQL asynchronously.
 */
export type Script<T> = Generator<Statement, T, readonly unknown[]>

/** One step of a script: `const [val] = yield* rows<ValRow>(sql`…`)`. */
export function* rows<Row>(statement: Statement): Script<readonly Row[]> {
  return (yield statement) as readonly Row[]
}

export function* firstRow<Row>(statement: Statement): Script<Row | undefined> {
  return ((yield statement) as readonly Row[])[0]
}

/** Drives a script where statements are answered at once. */
export function runScript<T>(script: () => Script<T>, run: (statement: Statement) => readonly unknown[]): T {
  const steps = script()
  let step = steps.next()
  while (!step.done) step = steps.next(run(step.value))
  return step.value
}

/** For the metrics. */
export interface DatabaseStats {
  readonly kind: string
  /** How many there may be. */
  readonly connections: number
  readonly inUse: number
  readonly waiting: number
}

export interface WriteOptions {
  /** For migrations: waits much longer for locks and answers than anything on behalf of a request may. */
  readonly isPatient?: boolean
}

export interface Database {
  readonly dialect: Dialect
  /** Runs one statement that changes nothing; one that would change something fails. */
  read<Row>(statement: Statement): Promise<readonly Row[]>
  /**
   * Runs the script in one transaction, alone (SQLite) or isolated by the row locks it takes (PostgreSQL, read committed), and
   * resolves after the commit is durable. The script may run more than once, so it must have no effect but its statements. If it
   * throws, nothing it did remains and the error is passed on.
   */
  write<T>(script: () => Script<T>, options?: WriteOptions): Promise<T>
  /** A number that is another one whenever the data may have changed, also by another process. Undefined where asking for it costs as much as reading. */
  readonly stamp: (() => number) | undefined
  ping(): Promise<void>
  stats(): DatabaseStats
  /** Finishes the writes that were asked for before, then closes. */
  stop(): Promise<void>
}
