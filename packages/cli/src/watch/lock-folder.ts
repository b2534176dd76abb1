import { Database } from "bun:sqlite"
import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { CliError } from "../cli-error.ts"
import { sweepFolder } from "./replace-file.ts"

/** Works in a folder that no other watcher uses, after what a killed one has left is cleaned up. */
export async function withLockedFolder<Result>(
  folder: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const unlock = lockFolder(folder)
  try {
    sweepFolder(folder)
    return await work()
  } finally {
    unlock()
  }
}

/**
 * Locks a folder until the returned function is called. SQLite takes an operating system lock
 * portably; it ends with the process, so there is never a stale one.
 */
function lockFolder(folder: string): () => void {
  const path = join(folder, ".hamlet", "watch.lock")
  try {
    // Not the folder itself: one that was just renamed would come back.
    if (!existsSync(join(folder, ".hamlet"))) mkdirSync(join(folder, ".hamlet"))
    const lock = new Database(path, { create: true })
    lock.run("begin exclusive")
    return () => lock.close()
  } catch (cause) {
    const isBusy = (cause as { code?: string }).code === "SQLITE_BUSY"
    const problem = isBusy ? "another process is watching it" : (cause as Error).message
    throw new CliError(isBusy ? "conflict" : "failed", `Cannot use "${folder}": ${problem}`, {
      cause,
    })
  }
}
