import type { Database } from "@hamlet/database"
import { readTables } from "../storage/backup/databases/backup-database.ts"
import type { Findings } from "./finding.ts"

/** A read-only view of a database. */
export interface DatabaseView extends Pick<Database, "dialect" | "read" | "stop"> {
  /** Whether the clock of the database is not that of this machine. */
  readonly hasOwnClock: boolean
}

/** The finding about a database, and a view of it if it could be opened. */
export interface Sighting {
  readonly findings: Findings
  readonly view: DatabaseView | undefined
}

export async function hasTable(view: DatabaseView, name: string): Promise<boolean> {
  return (await readTables(view)).has(name)
}
