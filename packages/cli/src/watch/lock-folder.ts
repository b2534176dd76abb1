import { Database } from "bun:sqlite"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { CliError } from "../cli-error.ts"

/**
 * Keeps a second watcher out of a folder, until the function that it gives is called. The lock is
 * the operating system's, which SQLite knows how to ask for everywhere: it ends with the process,
 * however that ends, so that there is never a stale one.
 */
export function lockFolder(folder: string): () => void {
  const path = join(folder, ".hamlet", "watch.lock")
  try {
    mkdirSync(join(folder, ".hamlet"), { recursive: true })
    const lock = new Database(path, { create: true })
    lock.run("begin exclusive")
    return () => lock.close()
  } catch (cause) {
    const isBusy = (cause as { code?: string }).code === "SQLITE_BUSY"
    const problem = isBusy ? "another process watches it" : (cause as Error).message
    throw new CliError(isBusy ? "conflict" : "failed", `Cannot watch "${folder}": ${problem}`, {
      cause,
    })
  }
}
