import type { Dialect } from "./dialect.ts"
import type { SqlValue, Statement, Statements } from "./sql.ts"

/**
 * A transaction, written once for both databases: it yields statements and is sent their rows.
 * SQLite runs it synchronously, so that nothing can come between; PostgreSQL asynchronously.
 */
export type Script<T> = Generator<Statement | LastStep, T, readonly unknown[]>

/**
 * What a script leaves to the end of the transaction, because there it costs less: nothing else in
 * a transaction may depend on it. Of those with one key only the last is run, even when different
 * scripts share the transaction; they are run in the order of their keys.
 */
export interface LastStep {
  readonly key: string
  run(): Statements<void>
  /**
   * Where one step can do what several would: takes over what an earlier one with the same key was
   * to do.
   */
  takeOver?(earlier: LastStep): void
}

/** The last steps of a transaction, by their keys. */
export type LastSteps = Map<string, LastStep>

/** One step of a script: `const [val] = yield* rows<ValRow>(sql`…`)`. */
export function* rows<Row>(statement: Statement): Statements<readonly Row[]> {
  return (yield statement) as readonly Row[]
}

export function* firstRow<Row>(statement: Statement): Statements<Row | undefined> {
  return ((yield statement) as readonly Row[])[0]
}

/** Drives a script where statements are answered at once; its last steps are only noted. */
export function runScript<T>(
  script: () => Script<T>,
  run: (statement: Statement) => readonly unknown[],
  lastSteps: LastSteps,
): T {
  const steps = script()
  let step = steps.next()
  while (!step.done)
    step = steps.next("key" in step.value ? noteLast(lastSteps, step.value) : run(step.value))
  return step.value
}

/** Keeps a last step for later. It is answered with no rows. */
export function noteLast(lastSteps: LastSteps, step: LastStep): readonly unknown[] {
  const earlier = lastSteps.get(step.key)
  if (earlier) step.takeOver?.(earlier)
  lastSteps.set(step.key, step)
  return []
}

/** The statements of the last steps. */
export function* allLast(lastSteps: LastSteps): Statements<void> {
  for (const key of [...lastSteps.keys()].sort()) yield* lastSteps.get(key)?.run() ?? []
}

/** For the metrics. */
export interface DatabaseStats {
  readonly kind: string
  /** How many there may be. */
  readonly connections: number
  readonly inUse: number
  readonly waiting: number
}

/**
 * What is written down of a run, in the order of the columns; nothing that JSON could not carry to
 * another thread.
 */
export type RunValues = readonly Exclude<SqlValue, Uint8Array>[]

export interface WriteOptions {
  /**
   * For migrations: waits much longer for locks and answers than anything on behalf of a request
   * may.
   */
  readonly isPatient?: boolean
  /**
   * The script does nothing but write down these runs. Where that is better, somebody else does it.
   */
  readonly runs?: readonly RunValues[] | undefined
}

/** A val that matches a search, with what it is ranked by. */
export interface Hit {
  readonly id: string
  readonly like_count: number
  readonly created_at: number | string
  readonly is_name: number
}

/**
 * Vals that may match. Each is compared by itself, so that a database can stop between two of them
 * when the time is over.
 */
export interface Candidates {
  /** The columns of a Hit; `is_name` is null for what does not match. */
  readonly select: Statement
  /** How many of the best ranked hits are wanted. */
  readonly hitsMax: number
}

/** Reads on behalf of one search. */
export interface Search {
  /**
   * The best ranked hits. Throws `search_timed_out` when all that was asked for this search took
   * too long, and `overloaded` when too many searches wait.
   */
  find(candidates: Candidates): Promise<readonly Hit[]>
}

export interface Database {
  readonly dialect: Dialect
  /** Begins a search. It never keeps the main thread; those who search take turns. */
  openSearch(searcher: string): Search
  /** Runs one statement that changes nothing; one that would change something fails. */
  read<Row>(statement: Statement): Promise<readonly Row[]>
  /**
   * Runs the script in one transaction, alone (SQLite) or isolated by the row locks it takes
   * (PostgreSQL, read committed), and resolves after the commit is durable. The script may run more
   * than once, so it must have no effect but its statements. If it throws, nothing it did remains
   * and the error is passed on.
   */
  write<T>(script: () => Script<T>, options?: WriteOptions): Promise<T>
  /**
   * A number that is another one whenever the data may have changed, also by another process.
   * Undefined where asking for it costs as much as reading.
   */
  readonly changeCount: (() => number) | undefined
  ping(): Promise<void>
  stats(): DatabaseStats
  /** Finishes the writes that were asked for before, then closes. */
  stop(): Promise<void>
}
