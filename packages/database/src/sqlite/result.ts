import type { Statement as Prepared } from "bun:sqlite"
import { type Field, type Row, toField, toRecords } from "../records.ts"
import type { SqlValue } from "../sql.ts"

/** A statement that SQLite has prepared. */
export type SqliteStatement = Prepared<unknown, SqlValue[]>

/** By prepared statement, of which all results have the same columns. */
const fieldsOf = new WeakMap<SqliteStatement, readonly Field[]>()

/** Runs a statement. Returns its rows as records. */
export function readRecords<Item>(
  prepared: SqliteStatement,
  values: readonly SqlValue[],
): readonly Item[] {
  const rows = prepared.values(...values)
  return rows.length === 0 ? [] : toSqliteRecords(prepared, rows)
}

/** Rows of a statement as records. */
export function toSqliteRecords<Item>(
  prepared: SqliteStatement,
  rows: readonly Row[],
): readonly Item[] {
  const fields = fieldsOf.get(prepared) ?? prepared.columnNames.map(toField)
  fieldsOf.set(prepared, fields)
  return toRecords(rows, fields)
}
