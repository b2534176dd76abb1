import { closeSync, existsSync, openSync, statSync } from "node:fs"
import { unavailable } from "../errors.ts"

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
