import type { Statement } from "../storage/database/sql.ts"
import type { Finding } from "./finding.ts"

/** A read-only view of a database. */
export interface DatabaseView {
  read<Row>(statement: Statement): Promise<readonly Row[]>
  hasTable(name: string): Promise<boolean>
  /** The time of the database's clock; undefined where that is the clock of this machine. */
  readonly nowMs: (() => Promise<number>) | undefined
  stop(): Promise<void>
}

/** The finding about a database, and a view of it if it could be opened. */
export interface Sighting {
  readonly finding: Finding
  readonly view: DatabaseView | undefined
}
