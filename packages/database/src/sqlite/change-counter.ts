/**
 * Reads the data version of SQLite at most once per turn of the event loop, so that requests that
 * arrive together share one `pragma data_version`. A commit of this process expires the number at
 * once: a caller that has seen its write acknowledged never reads older data, even in the same turn.
 */
export function createChangeCounter(readDataVersion: () => number) {
  let current: number | undefined
  const expire = () => {
    current = undefined
  }
  return {
    /** A number that differs from all earlier ones when a commit has happened since, by any process. */
    read(): number {
      if (current === undefined) {
        current = readDataVersion()
        setImmediate(expire)
      }
      return current
    },
    /** Makes the next `read` ask the database. To be called after each commit of this process. */
    expire,
  }
}
