import packageJson from "../../package.json" with { type: "json" }
import type { Config } from "../config/config.ts"
import { Backups } from "../domain/backups.ts"
import { createUploads } from "../domain/blobs/uploads.ts"
import { noOwnerDatabases, type SqlRequest } from "../domain/owner-databases.ts"
import { DatabasePool } from "../runtime/owner-databases/database-pool.ts"
import { createBackupSource } from "../storage/backup/backup-source.ts"
import { createBlobStore } from "../storage/blobs/blobs.ts"
import { createObjectStore } from "../storage/blobs/objects.ts"
import { createBucketContent } from "../storage/blobs/s3-objects.ts"
import type { Database } from "../storage/database/database.ts"
import { type Foundation, ownerFolder, sqlitePath } from "./foundation.ts"

/** What vals store: blobs and SQLite databases. And the backups of everything. */
export function createUserData({ config, db, now, newId, onError }: Foundation) {
  const { s3, blobBytesMax } = config.storage
  const bucket = s3 && createBucketContent(s3, blobBytesMax)
  return {
    blobs: createBlobStore(db),
    blobLimits: config.storage,
    objects: createObjectStore({ db, bucket, now, newId }),
    uploads: createUploads(),
    ownerDatabases: openOwnerDatabases(config, db, onError),
    backups: createBackups(config, db, now),
  }
}

function openOwnerDatabases(
  config: Config,
  db: { ping(): Promise<void> },
  onError: (error: unknown) => void,
) {
  const folder = ownerFolder(config)
  if (folder === undefined) return { ...noOwnerDatabases, stop: () => Promise.resolve() }
  const { databaseUrl, storage, isolation } = config
  const isShared = databaseUrl !== undefined
  const { sqliteBytesMax: bytesMax, sqliteMsMax: msMax } = storage
  const onWeak = (message: string) => onError(new Error(message))
  const pool = new DatabasePool({ folder, bytesMax, msMax, isShared, isolation, onWeak })
  // They lie beside the server's database: without that folder, an acknowledged write is lost.
  const assertPresent = isShared ? undefined : oncePerTurn(() => db.ping())
  return {
    async run(request: SqlRequest) {
      await assertPresent?.()
      return await pool.run(request)
    },
    sizeOf: (ownerId: string) => pool.sizeOf(ownerId),
    remove: (ownerId: string) => pool.remove(ownerId),
    stop: () => pool.stop(),
  }
}

/** Concurrent requests share a check: it takes a twentieth of the time of a small statement. */
function oncePerTurn(check: () => Promise<void>): () => Promise<void> {
  let checked: Promise<void> | undefined
  return () => {
    if (!checked) {
      checked = check()
      setImmediate(() => {
        checked = undefined
      })
    }
    return checked
  }
}

function createBackups(config: Config, db: Database, now: () => number): Backups {
  const options = {
    sqlitePath: sqlitePath(config),
    databaseUrl: config.databaseUrl,
    ownerFolder: ownerFolder(config),
    bucket: config.storage.s3,
    objectBytesMax: config.storage.blobBytesMax,
    serverVersion: packageJson.version,
    dataDir: config.dataDir,
  }
  return new Backups(createBackupSource(db, options, now))
}
