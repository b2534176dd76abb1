import type { Database, Dialect, RecordOf, Sql, SqlValue, Statement } from "@hamlet/database"

/** The parts of a database that only reading needs. */
export type Readable = Pick<Database, "dialect" | "read" | "stop">

/** A column of a table, with a type that both databases share. */
export interface TableColumn {
  readonly name: string
  readonly type: "text" | "integer" | "bytes"
}

/** All tables of ours with their columns, in order. */
export async function readTables({
  dialect,
  read,
}: Pick<Readable, "dialect" | "read">): Promise<ReadonlyMap<string, readonly TableColumn[]>> {
  type Row = { tableName: string; columnName: string; type: TableColumn["type"] }
  const found = await read<Row>(dialect.columns)
  const columns = found.map(({ columnName: name, ...rest }) => ({ name, ...rest }))
  return Map.groupBy(columns, ({ tableName }) => tableName)
}

/** A database of a server, as a backup reads it and a restore fills it. */
export interface BackupDatabase {
  /** Subject of messages. */
  readonly name: string
  /** A connection in a transaction that sees the database as it is at this moment. */
  openSnapshot(): Promise<BackupConnection>
  /** The database as it is; undefined where there is none. */
  inspect(): Promise<Readable | undefined>
  /** The database in which a restore creates its tables. */
  openTarget(): Promise<Database>
  /** A connection in a transaction that fills the tables of the target. */
  openLoad(): Promise<LoadConnection>
  /** Puts the target in the place of the database, if it is another one. */
  place(assertEmpty: () => Promise<void>): Promise<void>
  /** Removes a target that was not placed. */
  discard(): void
}

/** A connection of its own, for one transaction that may take hours. */
export interface BackupConnection extends Readable {
  /** Opens the rows of a table that match the condition. */
  openCursor(table: string, columns: readonly string[], where: string): Promise<Cursor>
}

export interface Cursor {
  /** The next rows, as lists of values. Fewer than `count` are the last ones. */
  next(count: number): Promise<readonly SnapshotRow[]>
  close(): Promise<void>
}

/** PostgreSQL returns 64-bit integers as text. */
export type SnapshotRow = readonly (SqlValue | bigint)[]

export interface LoadConnection {
  readonly dialect: Dialect
  run<Row extends RecordOf<Row>>(...given: Sql): Promise<readonly Row[]>
  insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
  ): Promise<void>
  /**
   * Selects the statements `drop` and `create` of everything that makes inserting slow. They are
   * created again in the reverse order.
   */
  readonly obstructions: Statement
  /** Runs after that. */
  readonly completion: readonly string[]
  /** Selects `table` and `parent` of broken references, where `create` does not refuse them. */
  readonly brokenReferences: Statement | undefined
  stop(): Promise<void>
}

const limits = {
  /** The approximate size of a batch. */
  batchBytes: 1_048_576,
  rowsMin: 1,
  rowsMax: 4_000,
  /** For the first batch, when the size of the rows is unknown: one may have many megabytes. */
  rowsFirst: 4,
  /** The most that the next batch may be larger. */
  growthMax: 8,
}

/** All rows of a table that match the condition, in batches of about `batchBytes`. */
export async function* readRows(
  connection: BackupConnection,
  table: string,
  columns: readonly string[],
  where: string,
): AsyncGenerator<readonly SnapshotRow[], void> {
  const cursor = await connection.openCursor(table, columns, where)
  try {
    for (let count = limits.rowsFirst; ; ) {
      const rows = await cursor.next(count)
      const fitting = Math.floor((count * limits.batchBytes) / Math.max(1, weigh(rows)))
      if (rows.length > 0) yield rows
      if (rows.length < count) return
      count = Math.max(limits.rowsMin, Math.min(limits.rowsMax, fitting, count * limits.growthMax))
    }
  } finally {
    // The cursor cannot be closed in a transaction that has failed, and ends with that anyway.
    await cursor.close().catch(() => {})
  }
}

/** The approximate size of the rows in bytes. */
function weigh(rows: readonly SnapshotRow[]): number {
  let bytes = 0
  for (const row of rows)
    for (const value of row)
      bytes += typeof value === "string" || value instanceof Uint8Array ? value.length : 8
  return bytes
}
