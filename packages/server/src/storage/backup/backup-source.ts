import type { BackupSource } from "../../domain/backups.ts"
import { holdObjects } from "../blobs/objects.ts"
import type { Database } from "../database/database.ts"
import { readAhead } from "./read-ahead.ts"
import { type BackupThreadOptions, readThreaded } from "./threaded-backup.ts"

const limits = {
  /** How often the protection of objects is renewed. */
  renewMs: 60_000,
  /** How long each renewal lasts. */
  holdMs: 300_000,
}

/** Backups of the database, the bucket and the databases of users. */
export function createBackupSource(
  db: Database,
  { dataDir, ...options }: Omit<BackupThreadOptions, "skipDamaged"> & { readonly dataDir: string },
  now: () => number,
): BackupSource {
  return {
    async *read({ skipDamaged }, signal) {
      // A bucket is not part of any transaction: before the snapshot is taken, all nodes learn
      // not to delete its objects.
      const hold = () => holdObjects(db, now() + limits.holdMs)
      if (options.bucket) await hold()
      const renewal =
        options.bucket && setInterval(() => void hold().catch(() => {}), limits.renewMs)
      try {
        yield* readAhead(readThreaded({ ...options, skipDamaged }, signal), { folder: dataDir })
      } finally {
        clearInterval(renewal)
      }
    },
  }
}
