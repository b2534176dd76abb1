import type { Dialect } from "./dialect.ts"
import type { RecordOf } from "./records.ts"
import { type Sql, type Statement, type Statements, sql } from "./sql.ts"

/**
 * A transaction, written once for both databases: it yields statements and receives the rows of those
 * that it yields through `rows` or `firstRow`. SQLite runs it synchronously, so that nothing else runs
 * in between; PostgreSQL asynchronously, and it waits only for results that the script reads.
 */
export type Script<T> = Generator<Statement | LastStep, T, unknown>

/**
 * Work that a script defers to the end of the transaction, where it costs less. Nothing else in the
 * transaction may depend on it. Of the steps with the same key only the last one runs, even when
 * different scripts share the transaction. Steps run in the order of their keys.
 */
export interface LastStep {
  readonly key: string
  run(): Statements<void>
  /**
   * Takes over the work of an earlier step with the same key, where one step can do the work of
   * several.
   */
  takeOver?(earlier: LastStep): void
}

/** One step of a script: `const found = yield* rows<ValRow>`select …``. */
export function* rows<Row extends RecordOf<Row>>(...given: Sql): Statements<readonly Row[]> {
  return (yield { ...sql(...given), isRead: true }) as readonly Row[]
}

export function* firstRow<Row extends RecordOf<Row>>(...given: Sql): Statements<Row | undefined> {
  return (yield* rows<Row>(...given))[0]
}

/**
 * The verbs of stores. Each calls `read` or `write` of the database that it is called on, so that one
 * that wraps another replaces those only.
 */
export const verbs = {
  /** The first row of a statement that only reads. */
  async first<Row extends RecordOf<Row>>(this: Driver, ...given: Sql): Promise<Row | undefined> {
    return (await this.read<Row>(...given))[0]
  },
  /** Runs one statement in a transaction of its own. It is repeated where `writeOne` fails. */
  run(this: Driver, ...given: Sql): Promise<void> {
    return this.write(function* () {
      yield sql(...given)
    })
  },
  /**
   * Runs one statement like `run`. Returns whether it has returned a row, and so found one to
   * change.
   */
  change(this: Driver, ...given: Sql): Promise<boolean> {
    return this.write(function* () {
      return (yield* firstRow(...given)) !== undefined
    })
  },
}

/** For the metrics. */
export interface DatabaseStats {
  readonly kind: string
  /** The most connections that may be open. */
  readonly connections: number
  readonly inUse: number
  readonly waiting: number
}

/** A script that a thread of its own can run as well. */
export interface ThreadWrite {
  /** For logs. */
  readonly name: string
  /** The module of the thread, which calls `serveWrites` with the script. */
  readonly module: URL
  /** What the script is called with, behind the dialect. JSON can carry it to the thread. */
  readonly input: object
  /** Whether it is large enough to start the thread, which then also runs those that are not. */
  readonly isLarge: boolean
}

export interface WriteOptions {
  /**
   * For migrations: waits much longer for locks and results than a write of a request may.
   */
  readonly isPatient?: boolean
  /** The script for a thread. A database may have a thread run it, where that is better. */
  readonly byThread?: ThreadWrite | undefined
  /**
   * The record that it changes, by its id or its name. Writes of the same one run one after the other:
   * they would have a connection each while they wait for its row.
   */
  readonly inTurnOf?: string | undefined
}

/**
 * Rows that may be hits. Each is compared separately, so that a database can stop between two of them
 * when the time is up.
 */
export interface Candidates {
  /** Selects all candidates. A hit may be there several times, each time the same. */
  readonly select: Statement
  /** The column that is null in a row that is not a hit. */
  readonly hitColumn: string
  /** The columns by which hits are ranked, the greatest first. The last one is unique. */
  readonly rankColumns: readonly string[]
  /** How many of the best ranked hits to return. */
  readonly hitsMax: number
}

/** Reads on behalf of one search. */
export interface Search {
  /**
   * The best ranked hits. Throws `search_timed_out` when the queries of this search took too long
   * together, and `overloaded` when too many searches wait.
   */
  find<Hit extends RecordOf<Hit>>(candidates: Candidates): Promise<readonly Hit[]>
}

/** A database as stores use it. */
export type Database = Driver & typeof verbs

/** What each of the databases does in its own way. */
export interface Driver {
  readonly dialect: Dialect
  /** Begins a search. It never blocks the main thread; searchers take turns. */
  openSearch(searcher: string): Search
  /** Runs one statement that only reads. A statement that writes fails. */
  read<Row extends RecordOf<Row>>(...given: Sql): Promise<readonly Row[]>
  /**
   * Runs the script in one transaction, alone (SQLite) or isolated by the row locks that it takes
   * (PostgreSQL, read committed), and resolves after the commit is durable. The script may run more
   * than once, so it must have no effect but its statements. If it throws, everything it did is
   * rolled back and the promise rejects with the error.
   */
  write<T>(script: () => Script<T>, options?: WriteOptions): Promise<T>
  /**
   * Runs one statement as a transaction of its own, without the round trips of a script. It may run
   * more than once. PostgreSQL may have closed the connection meanwhile: a script notices that before
   * its commit and is repeated, but this fails, because nobody knows whether it was committed.
   */
  writeOne<Row extends RecordOf<Row>>(...given: Sql): Promise<readonly Row[]>
  /**
   * Runs one statement that waits behind no other: on PostgreSQL it has a connection of its own, and
   * little time.
   */
  runUrgent<Row extends RecordOf<Row>>(...given: Sql): Promise<readonly Row[]>
  /**
   * A number that differs whenever the data may have changed, also by another process. Undefined
   * where asking for it costs as much as reading.
   */
  readonly changeCount: (() => number) | undefined
  /**
   * Tells the processes that use this database, this one included. A notice may get lost, and where
   * the database cannot pass it on, other processes never get any: they must also poll.
   */
  notify(channel: string): void
  /** Calls back for each notice, and when some may have been lost. Returns a function that ends it. */
  listen(channel: string, onNotice: () => void): () => void
  ping(): Promise<void>
  stats(): DatabaseStats
  /** Finishes the writes that were requested before, then closes. */
  stop(): Promise<void>
}
