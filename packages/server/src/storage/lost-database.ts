import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"

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
