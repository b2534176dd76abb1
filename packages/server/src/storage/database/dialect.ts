import type { SearchIndex } from "../search/search-index.ts"
import type { Ddl } from "./ddl.ts"
import type { Statement } from "./sql.ts"

/**
 * What differs between the databases, as named capabilities: no other file asks which database it
 * is talking to.
 */
export interface Dialect extends Ddl {
  /** For messages only. */
  readonly name: string
  /**
   * Ends a select whose rows must not change until the transaction ends. Empty where a transaction
   * is alone anyway.
   */
  readonly forUpdate: Statement
  /** Where round trips cost: how concurrent lookups are gathered into one statement. */
  readonly gather: Gather | undefined
  /**
   * Makes whoever resolves or takes the same name wait for each other until the transaction ends.
   * Empty where a transaction is alone anyway.
   */
  lockName(name: string): readonly Statement[]
  /** The same statement, asking for its plan instead of its rows. */
  explain(statement: Statement): Statement
  readonly search: SearchIndex
  /**
   * What a migration runs first in its transaction, so that two nodes that start together migrate
   * in turn.
   */
  readonly migrationLock: readonly Statement[]
  /** Each gives rows with one column, `line`, that describe the schema in a fixed order. */
  readonly catalog: readonly Statement[]
  /**
   * Gives every column of every table, in order: `table_name`, `column_name`, and its `type`, which
   * is text, integer or bytes.
   */
  readonly columns: Statement
  /** About how many rows a table has, as `count`, without reading all of them. */
  estimateRows(table: string): Statement
}

/** Conditions that hold for any of many keys. */
export interface Gather {
  isAnyId(column: string, ids: readonly string[]): Statement
  isAnyBytes(column: string, keys: readonly Uint8Array[]): Statement
}
