import { statSync } from "node:fs"
import { unavailable } from "../database/errors.ts"

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
