import type { Statement } from "../storage/database/sql.ts"
import type { Finding } from "./finding.ts"

/** A database that is only looked at. */
export interface DatabaseView {
  read<Row>(statement: Statement): Promise<readonly Row[]>
  hasTable(name: string): Promise<boolean>
  /** What its own clock says; undefined where that is the clock of this machine. */
  readonly nowMs: (() => Promise<number>) | undefined
  stop(): Promise<void>
}

/** What there is to say about a database itself, and a view of it where it could be opened. */
export interface Sighting {
  readonly finding: Finding
  readonly view: DatabaseView | undefined
}
