import type { Dialect } from "../database/dialect.ts"
import type { SqlValue, Statement } from "../database/sql.ts"

/** The database as it was at one moment, for as long as it is looked at. */
export interface Snapshot {
  readonly dialect: Dialect
  read<Row>(statement: Statement): Promise<readonly Row[]>
  /** All rows of a table for which the condition holds, as lists of values, some at a time. */
  readRows(
    table: string,
    columns: readonly string[],
    where: string,
  ): AsyncGenerator<readonly SnapshotRow[], void>
  stop(): Promise<void>
}

/** PostgreSQL gives integers of 64 bits as texts. */
export type SnapshotRow = readonly (SqlValue | bigint)[]

const limits = {
  /** About how much is read at a time. */
  batchBytes: 1_048_576,
  rowsMin: 1,
  rowsMax: 4_000,
  /** The first time, when nothing is known of the table: a row may have many megabytes. */
  rowsFirst: 4,
  /** It grows no faster than this. */
  growthMax: 8,
}

/** How many rows to read next, so that it is about as much as is good to have at a time. */
export class BatchSize {
  rows = limits.rowsFirst

  /** So many bytes had as many rows as were asked for. */
  note(bytes: number): void {
    const fitting = Math.floor((this.rows * limits.batchBytes) / Math.max(1, bytes))
    this.rows = Math.max(
      limits.rowsMin,
      Math.min(limits.rowsMax, fitting, this.rows * limits.growthMax),
    )
  }
}

/** About how many bytes the rows have. */
export function weigh(rows: readonly SnapshotRow[]): number {
  let bytes = 0
  for (const row of rows)
    for (const value of row)
      bytes += typeof value === "string" || value instanceof Uint8Array ? value.length : 8
  return bytes
}
