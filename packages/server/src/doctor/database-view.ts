import type { Database } from "../storage/database/database.ts"
import type { Finding } from "./finding.ts"

/** A read-only view of a database. */
export interface DatabaseView extends Pick<Database, "dialect" | "read" | "stop"> {
  /** Whether the clock of the database is not that of this machine. */
  readonly hasOwnClock: boolean
}

/** The finding about a database, and a view of it if it could be opened. */
export interface Sighting {
  readonly finding: Finding
  readonly view: DatabaseView | undefined
}

export async function hasTable({ dialect, read }: DatabaseView, name: string): Promise<boolean> {
  const columns = await read<{ tableName: string }>(dialect.columns)
  return columns.some((column) => column.tableName === name)
}
