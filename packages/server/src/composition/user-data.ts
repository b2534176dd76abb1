import type { Database } from "@hamlet/database"
import { DatabasePool, type OwnerDatabases, type SentSqlRequest } from "@hamlet/owner-databases"
import packageJson from "../../package.json" with { type: "json" }
import type { Config } from "../config/config.ts"
import { Backups } from "../domain/backups.ts"
import { createBlobs } from "../domain/blobs/blobs.ts"
import { createUploads } from "../domain/blobs/uploads.ts"
import { createConnections } from "../domain/connections.ts"
import { createChat, createChatAllowance } from "../domain/openai.ts"
import { createSqlite, noOwnerDatabases } from "../domain/owner-databases.ts"
import type { StorageHome } from "../domain/storage-home.ts"
import { createChatService } from "../runtime/openai/chat-service.ts"
import { createStorageHomes } from "../storage/accounts/storage-homes.ts"
import { createBackupSource } from "../storage/backup/backup-source.ts"
import { createSettingStore } from "../storage/settings.ts"
import type { Limits } from "./accounts.ts"
import { chooseDatabaseHome, type Foundation, sqlitePath } from "./foundation.ts"
import type { Stores } from "./stores.ts"

/** What vals store, blobs and SQLite databases, and the language models that they use. */
export async function composeUserData(foundation: Foundation, stores: Stores, limits: Limits) {
  const { config, db, now, onErrorOf } = foundation
  const { service } = config.openAi
  const { quotas, budgets } = limits
  const ownerDatabases = await openOwnerDatabases(config, db, onErrorOf("databases of users"))
  return {
    ownerDatabases,
    blobs: createBlobs(stores.blobs, stores.objects, foundation),
    uploads: createUploads(stores.blobs, stores.objects, quotas, config.storage, foundation),
    sqlite: createSqlite(ownerDatabases, quotas),
    backups: createBackups(foundation),
    connections: createConnections(),
    chat: createChat(
      service ? createChatService(service) : null,
      createChatAllowance(config.openAi, now, budgets),
    ),
  }
}

async function openOwnerDatabases(
  config: Config,
  db: Database,
  onError: (error: unknown) => void,
): Promise<OwnerDatabases & { stop(): Promise<void> }> {
  const home = chooseDatabaseHome(config)
  const { sqliteBytesMax: bytesMax, sqliteMsMax: msMax } = config.storage
  const onWeak = (message: string) => onError(new Error(message))
  const homes = createStorageHomes(db)
  const options = { bytesMax, msMax, homes, isolation: config.isolation, onWeak }
  switch (home.kind) {
    case "none":
      return { ...noOwnerDatabases, stop: () => Promise.resolve() }
    case "libsql": {
      const { LibsqlDatabases } = await import("@hamlet/owner-databases/libsql")
      return new LibsqlDatabases({ ...options, server: home.server, onError })
    }
    case "files": {
      const pool = new DatabasePool({ ...options, ...home })
      return home.isShared ? pool : whilePresent(pool, () => db.ping())
    }
  }
}

/**
 * Works on the databases while the server's own is present. They lie beside it: without that
 * folder, an acknowledged write is lost.
 */
function whilePresent(pool: DatabasePool, ping: () => Promise<void>) {
  const assertPresent = oncePerTurn(ping)
  return {
    async run(request: SentSqlRequest) {
      await assertPresent()
      return await pool.run(request)
    },
    sizeOf: (ownerId: string) => pool.sizeOf(ownerId),
    remove: (home: StorageHome) => pool.remove(home),
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

function createBackups({ config, db, now }: Foundation): Backups {
  const options = {
    sqlitePath: sqlitePath(config),
    databaseUrl: config.databaseUrl,
    ownerDatabases: chooseDatabaseHome(config),
    bucket: config.storage.s3,
    objectBytesMax: config.storage.blobBytesMax,
    serverVersion: packageJson.version,
    dataDir: config.dataDir,
  }
  const settings = createSettingStore(db)
  const history = {
    note: (at: number) => settings.set(lastBackup, String(at)),
    async readLast() {
      const at = Number(await settings.find(lastBackup))
      return Number.isFinite(at) ? at : undefined
    },
  }
  return new Backups(createBackupSource(db, options), history, { now })
}

/** The setting with the time of the last complete backup. */
const lastBackup = "last_backup_at"
