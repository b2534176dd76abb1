import { closeSync, existsSync, openSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { unavailable } from "../database/errors.ts"

/** Files and folders that a server creates in its data folder beside the database. */
const serverFiles = ["secret.key", "sqlite"]

/**
 * Describes, for the operator, a data folder that a server has used but that has no database: it
 * was lost or is elsewhere, and a new server in its place would hide that. Undefined when all is
 * well.
 */
export function findLostDatabase(dataDir: string): string | undefined {
  const path = join(dataDir, "hamlet.db")
  const bytes = sizeOf(path)
  if ((bytes ?? 0) > 0) return undefined
  const left = serverFiles.filter((name) => hasContent(join(dataDir, name)))
  if (left.length === 0) return undefined
  return `"${path}" is ${bytes === undefined ? "missing" : "empty"}, but the folder contains ${left.join(" and ")} of a server`
}

/** Advice for the operator about a lost database. */
export const lostDatabaseAdvice =
  'put the file back, "hamlet restore" a backup, set HAMLET_DATABASE_URL if the data is in PostgreSQL, or move the remaining files away to start with an empty server'

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

/** Whether there is such a file, or such a folder with something in it. */
function hasContent(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && (!stats.isDirectory() || readdirSync(path).length > 0)
}

/**
 * Creates the file of a new database such that only its owner can read it, also in a folder that is
 * open to others. SQLite gives its other files the same mode. An existing file is not opened:
 * closing it would drop the locks of this process.
 */
export function createFile(path: string): void {
  if (existsSync(path)) return
  try {
    closeSync(openSync(path, "wx", 0o600))
  } catch {
    // SQLite reports why it cannot be opened, or another server has just created it.
  }
}

/**
 * Detects that the file of a database is no longer at the path where it was opened. SQLite would
 * keep writing to the unlinked file: all that it acknowledges would be lost at the next start.
 */
export function watchFile(path: string): { assertPresent(): void } {
  const opened = findIdentity(path)
  return {
    assertPresent() {
      if (opened === undefined || findIdentity(path) === opened) return
      throw unavailable(
        `"${path}" was removed or replaced while the server runs; put it back as it was, or stop the server and restore a backup`,
      )
    },
  }
}

/** Undefined when there is no such file. */
function findIdentity(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && `${stats.dev} ${stats.ino}`
}
