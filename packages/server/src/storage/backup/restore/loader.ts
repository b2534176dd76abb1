import type { Dialect } from "../../database/dialect.ts"
import type { SqlValue, Statement } from "../../database/sql.ts"

/**
 * A database that a backup is restored into. Before `commit` nothing of it is visible, and any
 * failure leaves the database empty.
 */
export interface Loader {
  readonly dialect: Dialect
  /** Why a restore is not possible: undefined when the database is empty. */
  findObstacle(): Promise<string | undefined>
  /** Creates the tables of that schema version, without indexes and foreign keys. */
  begin(schemaVersion: number): Promise<void>
  run<Row>(statement: Statement): Promise<readonly Row[]>
  insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
  ): Promise<void>
  /**
   * Creates the indexes and foreign keys that `begin` left out, and checks all references.
   */
  finish(signal: AbortSignal): Promise<void>
  /** Makes the restored data visible. */
  commit(): Promise<void>
  /** Removes everything that was loaded. */
  abort(): Promise<void>
}

/**
 * A backup that cannot be restored, or not into this server. The message completes the sentence
 * `Cannot restore "file": …`.
 */
export class RestoreRefused extends Error {
  override readonly name = "RestoreRefused"
}
