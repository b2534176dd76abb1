import type { Dialect } from "../database/dialect.ts"
import type { SqlValue, Statement } from "../database/sql.ts"

/** The database as it was at one moment. */
export interface Snapshot {
  readonly dialect: Dialect
  read<Row>(statement: Statement): Promise<readonly Row[]>
  /** All rows of a table that match the condition, as lists of values, in batches. */
  readRows(
    table: string,
    columns: readonly string[],
    where: string,
  ): AsyncGenerator<readonly SnapshotRow[], void>
  stop(): Promise<void>
}

/** PostgreSQL returns 64-bit integers as text. */
export type SnapshotRow = readonly (SqlValue | bigint)[]

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

/** The number of rows to read next, so that a batch has about `batchBytes`. */
export class BatchSize {
  rows = limits.rowsFirst

  /** Adapts to the bytes that the last batch of `rows` rows had. */
  adapt(bytes: number): void {
    const fitting = Math.floor((this.rows * limits.batchBytes) / Math.max(1, bytes))
    this.rows = Math.max(
      limits.rowsMin,
      Math.min(limits.rowsMax, fitting, this.rows * limits.growthMax),
    )
  }
}

/** The approximate size of the rows in bytes. */
export function weigh(rows: readonly SnapshotRow[]): number {
  let bytes = 0
  for (const row of rows)
    for (const value of row)
      bytes += typeof value === "string" || value instanceof Uint8Array ? value.length : 8
  return bytes
}
