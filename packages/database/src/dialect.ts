import type { Ddl } from "./ddl.ts"
import type { Statement } from "./sql.ts"

/**
 * The differences between the databases, as named capabilities: no other file asks which database
 * it uses.
 */
export interface Dialect extends Ddl {
  /** For messages only. */
  readonly name: string
  /**
   * Ends a select whose rows must not change until the transaction ends. Empty where transactions
   * run one at a time.
   */
  readonly forUpdate: Statement
  /**
   * Ends a select whose rows may be read by all until the transaction ends, but not changed. Empty where
   * transactions run one at a time.
   */
  readonly forShare: Statement
  /**
   * Ends a select that leaves out the rows that another transaction has locked, and locks the
   * others. Empty where transactions run one at a time.
   */
  readonly skipLocked: Statement
  /**
   * The time in whole milliseconds, by the clock of the database. It does not change within a
   * statement, so that an index can be searched for it.
   */
  readonly now: Statement
  /**
   * A table of the objects, with the given columns; a property that is absent is null. One statement
   * can then take any number of rows, whose values have types. Some column must have no nulls.
   */
  tableOf(rows: readonly object[], columns: TableColumns): Statement
  /** Whether a column is one of these ids. */
  isAnyId(column: string, ids: readonly string[]): Statement
  /** How concurrent lookups are gathered into one statement, where round trips cost time. */
  readonly gather: Gather | undefined
  /**
   * Makes transactions that resolve or take the same name run one after the other. Empty where
   * transactions run one at a time anyway.
   */
  lockName(name: string): readonly Statement[]
  /** The statement that returns the query plan of this one. */
  explain(statement: Statement): Statement
  /** What indexes texts by their trigrams. */
  readonly trigrams: "fts5" | "pg_trgm"
  /**
   * The statements that a migration runs first in its transaction, so that nodes that start
   * together migrate one after the other.
   */
  readonly migrationLock: readonly Statement[]
  /**
   * The statements after which a transaction waits for a lock only briefly, and then fails with
   * `LockTimeout`: requests queue behind a transaction that waits to lock a whole table. Empty where
   * nothing can hold a lock that long.
   */
  readonly briefLocks: readonly Statement[]
  /**
   * Returns every column of every table of ours, in order: `table_name`, `column_name`, and its
   * `type`, which is text, integer or bytes.
   */
  readonly columns: Statement
  /** Estimates the rows of a table, as `count`, without reading all of them. */
  estimateRows(table: string): Statement
  /** Whether a table can have a partition for each range of its key. */
  readonly hasPartitions: boolean
}

/** The columns of a table of objects. */
export type TableColumns = Readonly<Record<string, "id" | "integer" | "time" | "text">>

/** Statements about many keys. */
export interface Gather {
  isAnyBytes(column: string, keys: readonly Uint8Array[]): Statement
}
