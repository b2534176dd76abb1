import { DatabaseSync } from "node:sqlite"
import type { StatementLimits } from "../database-limits.ts"
import type { Authorizer } from "./authorizer.ts"

/** How a database is kept. */
export interface DatabaseSettings {
  readonly bytesMax: number
  /** Processes on other machines have it open too. */
  readonly isShared: boolean
  /** How long to wait for one of them. */
  readonly busyMsMax: number
}

/**
 * Opens a database, which is made if there is none, with everything switched off that a statement
 * could reach out of it with.
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
    // Programs that were written for SQLite put texts into the wrong quotes, and SQLite understands
    // them.
    enableDoubleQuotedStringLiterals: true,
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
    // Both hold from the first page on. To set them again would be to write that page again.
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

/**
 * The page size is SQLite's own, which is asked for so that the limit in pages is the limit in
 * bytes.
 */
const pageBytes = 4096

/** The pragma that bounds a database to so many bytes. */
export function toPageLimit(bytesMax: number): string {
  return `max_page_count = ${Math.max(2, Math.floor(bytesMax / pageBytes))}`
}

function readNumber(db: DatabaseSync, pragma: string): number {
  const [row] = db.prepare(`pragma ${pragma}`).all() as Record<string, number>[]
  return row?.[pragma] ?? 0
}

function toPragmas(settings: DatabaseSettings, limits: StatementLimits): string[] {
  return [
    // The faster way needs memory that all who have the database open share, which machines do not.
    `journal_mode = ${settings.isShared ? "delete" : "wal"}`,
    // What was acknowledged must be on the disk.
    "synchronous = full",
    toPageLimit(settings.bytesMax),
    `journal_size_limit = ${limits.journalBytes}`,
    `wal_autocheckpoint = ${Math.floor(limits.journalBytes / pageBytes)}`,
    `cache_size = -${Math.floor(limits.cacheBytes / 1024)}`,
    // Memory is watched; files in the folder for temporary ones would not be.
    "temp_store = memory",
    "mmap_size = 0",
    "trusted_schema = off",
    "recursive_triggers = off",
  ]
}
