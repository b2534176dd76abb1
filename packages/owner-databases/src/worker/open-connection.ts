import { DatabaseSync } from "node:sqlite"
import type { StatementLimits } from "../database-limits.ts"
import type { Authorizer } from "./authorizer.ts"

/** How a database is opened. */
export interface DatabaseSettings {
  readonly bytesMax: number
  /** Whether processes on other machines open it too. */
  readonly isShared: boolean
  /** How long to wait for a lock of another process. */
  readonly busyMsMax: number
  /** Whether double quotes are for names only, as on a libSQL server. */
  readonly hasOnlyNamesInQuotes?: boolean
}

/**
 * Opens a database, and creates it if it does not exist. Everything is off with which a statement
 * could access anything outside of it.
 */
export function openConnection(
  path: string,
  settings: DatabaseSettings,
  limits: StatementLimits,
  authorizer: Authorizer,
): DatabaseSync {
  const db = new DatabaseSync(path, {
    timeout: settings.busyMsMax,
    enableForeignKeyConstraints: true,
    // Many programs put strings into double quotes, which SQLite accepts.
    enableDoubleQuotedStringLiterals: !settings.hasOnlyNamesInQuotes,
    allowExtension: false,
    defensive: true,
    limits: {
      attach: 0,
      length: limits.valueBytesMax,
      sqlLength: limits.sqlBytesMax,
      exprDepth: limits.expressionDepthMax,
      compoundSelect: limits.compoundSelectsMax,
      likePatternLength: limits.patternBytesMax,
      triggerDepth: limits.triggerDepthMax,
      variableNumber: limits.parametersMax,
      vdbeOp: limits.programStepsMax,
    },
  })
  try {
    db.setAuthorizer(authorizer.decide)
    // Only for a new database: setting them again would write the first page again.
    if (readNumber(db, "page_count") === 0)
      for (const pragma of [`page_size = ${pageBytes}`, "auto_vacuum = incremental"])
        db.exec(`pragma ${pragma}`)
    for (const pragma of toPragmas(settings, limits)) db.exec(`pragma ${pragma}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** SQLite's default. It is set explicitly because the size limit is in pages. */
const pageBytes = 4096

/** The pragma that limits a database to that many bytes. */
export function toPageLimit(bytesMax: number): string {
  return `max_page_count = ${Math.max(2, Math.floor(bytesMax / pageBytes))}`
}

function readNumber(db: DatabaseSync, pragma: string): number {
  const [row] = db.prepare(`pragma ${pragma}`).all() as Record<string, number>[]
  return row?.[pragma] ?? 0
}

function toPragmas(settings: DatabaseSettings, limits: StatementLimits): string[] {
  return [
    // WAL is faster, but needs memory that all its processes share, which machines do not.
    `journal_mode = ${settings.isShared ? "delete" : "wal"}`,
    // What is acknowledged must be on disk.
    "synchronous = full",
    toPageLimit(settings.bytesMax),
    `journal_size_limit = ${limits.journalBytes}`,
    `wal_autocheckpoint = ${Math.floor(limits.journalBytes / pageBytes)}`,
    `cache_size = -${Math.floor(limits.cacheBytes / 1024)}`,
    // The memory of the process is limited; temporary files would not be.
    "temp_store = memory",
    "mmap_size = 0",
    "trusted_schema = off",
    "recursive_triggers = off",
  ]
}
