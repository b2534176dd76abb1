import type { BackupSource } from "../../domain/backups.ts"
import { holdObjects } from "../blobs/objects.ts"
import type { Database } from "../database/database.ts"
import { readAhead } from "./read-ahead.ts"
import { type BackupOrders, readThreaded } from "./threaded-backup.ts"

const limits = {
  /** How often it is said that objects are still held. */
  renewMs: 60_000,
  /** For how long each time. */
  holdMs: 300_000,
}

/** Backups of the database, and of what lies beside it. */
export function createBackupSource(
  db: Database,
  { dataDir, ...orders }: Omit<BackupOrders, "skipDamaged"> & { readonly dataDir: string },
  now: () => number,
): BackupSource {
  return {
    async *read({ skipDamaged }, signal) {
      // What is in a bucket is not part of any transaction: before the moment of the backup,
      // everybody is told to leave it there.
      const hold = () => holdObjects(db, now() + limits.holdMs)
      if (orders.bucket) await hold()
      const renewal =
        orders.bucket && setInterval(() => void hold().catch(() => {}), limits.renewMs)
      try {
        yield* readAhead(readThreaded({ ...orders, skipDamaged }, signal), { folder: dataDir })
      } finally {
        clearInterval(renewal)
      }
    },
  }
}
