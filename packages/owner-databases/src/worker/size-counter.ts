import { RecentMap } from "@hamlet/kit"
import { countBytesOf, listPaths, toDatabasePath } from "../database-paths.ts"
import type { DatabaseHome } from "../owner-databases.ts"

const limits = {
  /** The users whose sizes are kept. */
  ownersMax: 32,
  /**
   * How long sizes are kept, as a multiple of the time that it took to read them: reading those of a
   * thousand databases takes some milliseconds, and may take at most a twentieth of the time.
   */
  keptFactor: 20,
}

interface Sizes {
  readonly bytesOf: Map<string, number>
  readonly keptUntilMs: number
  /** The database that was written to since, whose size has to be read again. */
  written: string | undefined
}

/**
 * Adds up the sizes of the databases of users, for a worker process. What other processes write is
 * noticed a bit later.
 */
export function createSizeCounter(folder: string) {
  const kept = new RecentMap<string, Sizes>(limits.ownersMax)
  const find = (ownerId: string): Sizes => {
    const known = kept.get(ownerId)
    if (known && performance.now() < known.keptUntilMs) {
      if (known.written !== undefined) known.bytesOf.set(known.written, countBytesOf(known.written))
      return known
    }
    const sizes = readSizes(folder, ownerId)
    kept.set(ownerId, sizes)
    return sizes
  }
  return {
    /** The bytes of the user's other databases. Called before this one is written to. */
    countOthers(home: DatabaseHome): number {
      const own = toDatabasePath(folder, home)
      const sizes = find(home.ownerId)
      sizes.written = own
      let bytes = 0
      for (const [path, size] of sizes.bytesOf) if (path !== own) bytes += size
      return bytes
    },
  }
}

function readSizes(folder: string, ownerId: string): Sizes {
  const startedMs = performance.now()
  const paths = listPaths(folder, ownerId)
  const bytesOf = new Map(paths.map((path) => [path, countBytesOf(path)]))
  const endedMs = performance.now()
  const keptUntilMs = endedMs + (endedMs - startedMs) * limits.keptFactor
  return { bytesOf, keptUntilMs, written: undefined }
}
