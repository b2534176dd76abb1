import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { unavailable } from "../database/errors.ts"

/** What a server leaves in its data folder beside the database. */
const signs = ["secret.key", "sqlite"]

/**
 * Whether the database is missing in a folder where a server was before: then it was lost or is
 * elsewhere, and a new server in its place would hide that. Gives how things stand, in words for
 * the operator.
 */
export function findLostDatabase(dataDir: string): string | undefined {
  const path = join(dataDir, "hamlet.db")
  const bytes = sizeOf(path)
  if ((bytes ?? 0) > 0) return undefined
  const left = signs.filter((name) => isThere(join(dataDir, name)))
  if (left.length === 0) return undefined
  return `"${path}" is ${bytes === undefined ? "missing" : "empty"}, but ${left.join(" and ")} of a server is there`
}

/** What to do about a lost database. */
export const lostDatabaseAdvice =
  'put the file back, "hamlet restore" a backup, set HAMLET_DATABASE_URL if the data is in PostgreSQL, or move what is left away to begin anew'

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

/** A folder that is empty says nothing. */
function isThere(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && (!stats.isDirectory() || readdirSync(path).length > 0)
}

/**
 * Notices that the file of a database is no longer where it was opened. SQLite would go on with the
 * file that nobody finds any more: everything that it acknowledges is gone at the next start.
 */
export function watchFile(path: string): { assertThere(): void } {
  const opened = findIdentity(path)
  return {
    assertThere() {
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
