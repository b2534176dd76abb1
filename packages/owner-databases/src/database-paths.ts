import { existsSync, readdirSync, statSync } from "node:fs"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import type { DatabaseHome } from "./owner-databases.ts"

/** What the names of the files of a database end with. */
export const fileEnds = ["", "-wal", "-shm", "-journal"] as const

/** The folder of the databases of a user's vals. Absent until the first. */
export function toValFolder(folder: string, ownerId: string): string {
  return join(folder, ownerId)
}

/** The file of a database. The ids must be ids. */
export function toDatabasePath(folder: string, { ownerId, valId }: DatabaseHome): string {
  return valId === undefined
    ? join(folder, `${ownerId}.db`)
    : join(toValFolder(folder, ownerId), `${valId}.db`)
}

/** The bytes of all databases of a user on the disk. */
export async function countOwnedBytes(folder: string, ownerId: string): Promise<number> {
  let bytes = 0
  for (const path of listPaths(folder, ownerId))
    for (const end of countedEnds)
      bytes += (await stat(`${path}${end}`).catch(() => undefined))?.size ?? 0
  return bytes
}

/** The bytes of one database. Blocks: only for worker processes. */
export function countBytesOf(path: string): number {
  return countedEnds.reduce(
    (sum, end) => sum + (statSync(`${path}${end}`, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

/** The databases of a user: the own one, which may be missing, and those of vals. */
export function listPaths(folder: string, ownerId: string): readonly string[] {
  const valFolder = toValFolder(folder, ownerId)
  const names = existsSync(valFolder) ? readdirSync(valFolder) : []
  const ofVals = names.filter((name) => name.endsWith(".db"))
  return [toDatabasePath(folder, { ownerId }), ...ofVals.map((name) => join(valFolder, name))]
}

/** The files that count: not those that last only as long as a database is open. */
const countedEnds = ["", "-wal"] as const
