import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { listOwnerDatabases } from "../owner-database-files.ts"
import { RestoreRefused } from "./loader.ts"
import { syncPath } from "./sqlite-loader.ts"

/** The files beside a database that a restore makes. */
export interface RestoreFiles {
  /** Where the databases of users are put at first. */
  readonly besideFolder: string
  /**
   * Refuses when there are databases of users, but for those that a restore has left that was
   * killed.
   */
  begin(): void
  /** Puts them where they belong. */
  placeOwnerDatabases(): void
  /** There is nothing to clean up any more. */
  end(): void
  abort(): void
}

/** As long as this file is there, what is in the folder is half of something. */
const markName = "restore.unfinished"

/**
 * What a restore does in the data folder. It must have been made sure that the database is empty.
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
          `there are databases of users in ${ownerFolder} already, and only an empty server can be restored into; name another folder with HAMLET_DATA_DIR`,
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
    `another restore is under way, as process ${pid}; if that is some other program, delete ${mark}`,
  )
}
