import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { syncPath } from "../databases/sqlite.ts"
import type { DatabasePlace } from "../owner-databases/database-place.ts"
import { RestoreRefused } from "./loader.ts"

/** The files that a restore creates besides the database. */
export type RestoreFiles = ReturnType<typeof createRestoreFiles>

/** While this file exists, the folder contains an incomplete restore. */
const markName = "restore.unfinished"

/**
 * The changes of a restore in the data folder. The caller must have checked that the database is
 * empty.
 */
export function createRestoreFiles(dataDir: string, databases: DatabasePlace) {
  const besideFolder = join(dataDir, "sqlite.restoring")
  const mark = join(dataDir, markName)
  let isPlaced = false
  const clean = async (hasPlaced: boolean) => {
    rmSync(besideFolder, { recursive: true, force: true })
    if (hasPlaced) await databases.removeAll()
  }
  return {
    /** The folder into which the databases of users are restored at first. */
    besideFolder,
    /** Throws when there are databases of users, except for those of a restore that was killed. */
    async begin() {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 })
      if (existsSync(mark)) {
        assertEnded(mark)
        await clean(true)
      } else await clean(false)
      if (!(await databases.isEmpty()))
        throw new RestoreRefused(
          `${databases.name} already contains databases of users, and a restore needs an empty server; choose another folder with HAMLET_DATA_DIR, or another libSQL server`,
        )
      writeFileSync(mark, `${process.pid}\n`, { mode: 0o600 })
      syncPath(dataDir)
    },
    /** Moves them to their final place. */
    async placeOwnerDatabases() {
      if (!existsSync(besideFolder)) return
      isPlaced = true
      await databases.place(besideFolder)
      syncPath(dataDir)
    },
    /** The restore is complete. */
    end() {
      rmSync(mark, { force: true })
      syncPath(dataDir)
    },
    async abort() {
      await clean(isPlaced)
      rmSync(mark, { force: true })
    },
  }
}

function assertEnded(mark: string): void {
  const pid = Number.parseInt(readFileSync(mark, "utf8"), 10)
  if (!(pid > 0) || pid === process.pid) return
  try {
    process.kill(pid, 0)
  } catch {
    return
  }
  throw new RestoreRefused(
    `another restore is running, as process ${pid}; if that is a different program, delete ${mark}`,
  )
}
