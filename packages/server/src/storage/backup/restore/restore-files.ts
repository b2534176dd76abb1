import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { syncPath } from "../databases/sqlite.ts"
import { listOwnerDatabases } from "../owner-database-files.ts"
import { RestoreRefused } from "./loader.ts"

/** The files that a restore creates besides the database. */
export interface RestoreFiles {
  /** The folder into which the databases of users are restored at first. */
  readonly besideFolder: string
  /**
   * Throws when there are databases of users, except for those of a restore that was killed.
   */
  begin(): void
  /** Moves them to their final folder. */
  placeOwnerDatabases(): void
  /** The restore is complete. */
  end(): void
  abort(): void
}

/** While this file exists, the folder contains an incomplete restore. */
const markName = "restore.unfinished"

/**
 * The changes of a restore in the data folder. The caller must have checked that the database is
 * empty.
 */
export function createRestoreFiles(dataDir: string, ownerFolder: string): RestoreFiles {
  const besideFolder = `${ownerFolder}.restoring`
  const mark = join(dataDir, markName)
  let isPlaced = false
  const clean = (hasPlaced: boolean) => {
    rmSync(besideFolder, { recursive: true, force: true })
    if (hasPlaced) rmSync(ownerFolder, { recursive: true, force: true })
  }
  return {
    besideFolder,
    begin() {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 })
      if (existsSync(mark)) {
        assertEnded(mark)
        clean(true)
      } else clean(false)
      if (listOwnerDatabases(ownerFolder).length > 0)
        throw new RestoreRefused(
          `${ownerFolder} already contains databases of users, and a restore needs an empty server; choose another folder with HAMLET_DATA_DIR`,
        )
      writeFileSync(mark, `${process.pid}\n`, { mode: 0o600 })
      syncPath(dataDir)
    },
    placeOwnerDatabases() {
      if (!existsSync(besideFolder)) return
      syncPath(besideFolder)
      rmSync(ownerFolder, { recursive: true, force: true })
      isPlaced = true
      renameSync(besideFolder, ownerFolder)
      syncPath(dataDir)
    },
    end() {
      rmSync(mark, { force: true })
      syncPath(dataDir)
    },
    abort() {
      clean(isPlaced)
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
