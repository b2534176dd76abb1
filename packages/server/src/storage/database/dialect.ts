import { postgresSearchIndex, type SearchIndex, sqliteSearchIndex } from "../search/search-index.ts"
import { type Ddl, postgresDdl, sqliteDdl } from "./ddl.ts"
import {
  postgresCatalog,
  postgresColumns,
  sqliteCatalog,
  sqliteColumns,
} from "./dialect-catalog.ts"
import { nothing, raw, type Statement, sql } from "./sql.ts"

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

export const sqliteDialect: Dialect = {
  ...sqliteDdl,
  name: "SQLite",
  forUpdate: nothing,
  gather: undefined,
  lockName: () => [],
  explain: (statement) => sql`explain query plan ${statement}`,
  search: sqliteSearchIndex,
  // Every write transaction begins immediate, which is a lock on the whole file across processes.
  migrationLock: [],
  catalog: sqliteCatalog,
  columns: sqliteColumns,
  // Rows are numbered as they come, and it is the oldest that go.
  estimateRows: (table) =>
    raw(
      `select coalesce((select max(rowid) from ${table}) - (select min(rowid) from ${table}) + 1, 0) as count`,
    ),
}

export const postgresDialect: Dialect = {
  ...postgresDdl,
  name: "PostgreSQL",
  forUpdate: raw("for update"),
  gather: {
    isAnyId: (column, ids) => sql`${raw(column)} = any(${`{${ids.join(",")}}`}::uuid[])`,
    isAnyBytes: (column, keys) =>
      sql`${raw(column)} = any(${`{${keys.map((key) => `"\\\\x${Buffer.from(key).toString("hex")}"`).join(",")}}`}::bytea[])`,
  },
  lockName: (name) => [sql`select pg_advisory_xact_lock(hashtextextended(${name}::text, 0))`],
  explain: (statement) => sql`explain (format json) ${statement}`,
  search: postgresSearchIndex,
  // The number says nothing, it only has to be ours: locks of this kind are shared by everything in
  // the database.
  migrationLock: [raw("select pg_advisory_xact_lock(7243392817)")],
  catalog: postgresCatalog,
  columns: postgresColumns,
  // Below nothing where nobody has looked at the table yet.
  estimateRows: (table) =>
    raw(`select case when reltuples < 0 then (select count(*) from ${table}) else reltuples::bigint end as count
      from pg_class where oid = '${table}'::regclass`),
}
