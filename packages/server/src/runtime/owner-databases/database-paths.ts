import { existsSync, readdirSync, statSync } from "node:fs"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import type { StorageHome } from "../../domain/storage-home.ts"

/** What the names of the files of a database end with. */
export const fileEnds = ["", "-wal", "-shm", "-journal"] as const

/** The folder of the databases of a user's vals. Absent until the first. */
export function toValFolder(folder: string, ownerId: string): string {
  return join(folder, ownerId)
}

/** The file of a database. The ids must be ids. */
export function toDatabasePath(folder: string, { ownerId, valId }: StorageHome): string {
  return valId === undefined
    ? join(folder, `${ownerId}.db`)
    : join(toValFolder(folder, ownerId), `${valId}.db`)
}

/** The bytes of all databases of a user on the disk. */
export async function countBytes(folder: string, ownerId: string): Promise<number> {
  const sizes = [0]
  for (const path of listCounted(folder, ownerId))
    sizes.push((await stat(path).catch(() => undefined))?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size)
}

/** The same without the database of this home. Blocks: only for worker processes. */
export function countOtherBytes(folder: string, home: StorageHome): number {
  const own = toDatabasePath(folder, home)
  let bytes = 0
  for (const path of listCounted(folder, home.ownerId))
    if (!path.startsWith(own)) bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return bytes
}

/** How many databases the vals of a user have. */
export function countValDatabases(folder: string, ownerId: string): number {
  return listNames(toValFolder(folder, ownerId)).filter((name) => name.endsWith(".db")).length
}

/** The files that count: not those that last only as long as a database is open. */
function listCounted(folder: string, ownerId: string): readonly string[] {
  const own = toDatabasePath(folder, { ownerId })
  const valFolder = toValFolder(folder, ownerId)
  const ofVals = listNames(valFolder).filter((name) => /\.db(?:-wal)?$/.test(name))
  return [own, `${own}-wal`, ...ofVals.map((name) => join(valFolder, name))]
}

function listNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}
