import type { Dialect } from "../../database/dialect.ts"
import type { SqlValue, Statement } from "../../database/sql.ts"

/**
 * A database that a backup is loaded into. Until `commit`, nobody sees anything of it, and whatever
 * happens leaves the database as empty as it was.
 */
export interface Loader {
  readonly dialect: Dialect
  /** What is in the way: undefined when the database is empty. */
  findObstacle(): Promise<string | undefined>
  /** Makes the tables as they were at that step of the schema, without what slows a load down. */
  begin(schemaVersion: number): Promise<void>
  run<Row>(statement: Statement): Promise<readonly Row[]>
  insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
  ): Promise<void>
  /**
   * Makes everything that `begin` left out, and checks that every row refers to one that is there.
   */
  finish(signal: AbortSignal): Promise<void>
  /** Makes it the database, for good. */
  commit(): Promise<void>
  /** Leaves nothing behind. */
  abort(): Promise<void>
}

/**
 * A backup that cannot be restored, or not here. The message is the end of a sentence about the
 * file.
 */
export class RestoreRefused extends Error {
  override readonly name = "RestoreRefused"
}
