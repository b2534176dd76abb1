import { join } from "node:path"
import { BackupDamaged } from "@hamlet/contract/backup"
import { openPostgres } from "@hamlet/database/postgres"
import { openSqlite } from "@hamlet/database/sqlite"
import { type Config, ConfigError, type Environment, loadConfig } from "../config/config.ts"
import { createCipher, findMissingKey, keyCheckName } from "../domain/secrets/cipher.ts"
import { findKeyFile } from "../storage/accounts/key-file.ts"
import { toPostgresBackup } from "../storage/backup/databases/postgres.ts"
import { toSqliteBackup } from "../storage/backup/databases/sqlite.ts"
import {
  createFilePlace,
  createLibsqlPlace,
} from "../storage/backup/owner-databases/database-place.ts"
import { createLoader, RestoreRefused } from "../storage/backup/restore/loader.ts"
import {
  type Restored,
  type RestoreProgress,
  type RestoreTarget,
  restoreBackup,
} from "../storage/backup/restore/restore-backup.ts"
import { createRestoreFiles } from "../storage/backup/restore/restore-files.ts"
import { createBucketContent } from "../storage/blobs/s3-objects.ts"
import { migrations } from "../storage/migrations/index.ts"

const limits = {
  /** How often a step reports its progress. */
  reportMs: 100,
}

/** `restore FILE`: restores a backup into an empty target. No server may be running on it. */
export async function restore(args: readonly string[], env: Environment): Promise<void> {
  const [path, ...flags] = args
  if (path === undefined || path.startsWith("-"))
    throw new ConfigError("Cannot restore: name the file first, as in restore FILE")
  const isJson = flags.includes("--json")
  const config = loadConfig(
    env,
    flags.filter((flag) => flag !== "--json"),
  )
  const say = (line: object, text: string) =>
    process.stdout.write(`${isJson ? JSON.stringify(line) : text}\n`)
  const stopping = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => stopping.abort(new RestoreRefused("it was interrupted")))
  try {
    const report = createReporter(say, isJson)
    const restored = await restoreBackup(path, openTarget(config), {
      signal: stopping.signal,
      report,
    })
    const { createdAt, serverVersion } = restored.summary.header
    const notes = [...(await toKeyNotes(config)), ...toNotes(config, restored)]
    const { users = 0, vals = 0 } = restored.sections
    say(
      { step: "done", sections: restored.sections, createdAt, serverVersion, notes },
      [`Restored ${users} users and ${vals} vals as they were at ${createdAt}`, ...notes].join(
        "\n",
      ),
    )
  } catch (error) {
    const isExpected =
      error instanceof RestoreRefused || error instanceof BackupDamaged || isFileError(error)
    if (!isExpected) throw error
    throw new ConfigError(`Cannot restore "${path}": ${error.message}`, { cause: error })
  }
}

function openTarget({ dataDir, databaseUrl, storage, libsql }: Config): RestoreTarget {
  const database =
    databaseUrl === undefined
      ? toSqliteBackup(join(dataDir, "hamlet.db"))
      : toPostgresBackup(databaseUrl)
  return {
    loader: createLoader(database),
    files: createRestoreFiles(
      dataDir,
      libsql ? createLibsqlPlace(libsql) : createFilePlace(join(dataDir, "sqlite")),
    ),
    migrations,
    bucket: storage.s3 && createBucketContent(storage.s3, storage.blobBytesMax),
  }
}

/** Reports progress: as JSON every change, for people only the start of a step. */
function createReporter(
  say: (line: object, text: string) => void,
  isJson: boolean,
): (progress: RestoreProgress) => void {
  const texts = {
    check: "Checking the file",
    load: "Loading it",
    index: "Making the search index",
    verify: "Counting what is there",
  }
  let step: string | undefined
  let saidAt = 0
  return (progress) => {
    const isNew = progress.step !== step
    const isDue =
      isNew || progress.done === progress.total || performance.now() - saidAt >= limits.reportMs
    step = progress.step
    if (!(isJson ? isDue : isNew)) return
    saidAt = performance.now()
    say(progress, texts[progress.step])
  }
}

/** Asks for the key of the secrets, unless it is set. */
async function toKeyNotes({
  databaseUrl,
  dataDir,
  secretKeys,
}: Config): Promise<readonly string[]> {
  const keys = secretKeys ?? findKeyFile(dataDir)
  const place = `as ${join(dataDir, "secret.key")} or in HAMLET_SECRET_KEY`
  const db = databaseUrl
    ? await openPostgres(databaseUrl, { connectionsMax: 2 })
    : openSqlite(join(dataDir, "hamlet.db"))
  try {
    const kept = await db.first<{ value: string }>`
      select value from settings where name = ${keyCheckName}`
    if (!kept) return []
    const keyId = keys ? findMissingKey(createCipher(keys), kept.value) : kept.value.split(" ")[0]
    if (keyId === undefined) return []
    return [`Secrets are still encrypted: the server needs key ${keyId}, ${place}`]
  } finally {
    await db.stop()
  }
}

function toNotes(
  { databaseUrl, dataDir, storage, libsql }: Config,
  { summary, ownerDatabases }: Restored,
): readonly string[] {
  const { missing, damaged } = summary.trailer
  const isUnused =
    ownerDatabases > 0 && !libsql && databaseUrl !== undefined && !storage.isDataDirShared
  return [
    ...(isUnused
      ? [
          `The databases of ${ownerDatabases} users are in ${join(dataDir, "sqlite")}, and are used only with HAMLET_DATA_DIR_SHARED=yes; or restore with HAMLET_LIBSQL_URL`,
        ]
      : []),
    ...(damaged.length > 0
      ? [
          `The databases of these users could not be read, and are not in the backup: ${damaged.join(", ")}`,
        ]
      : []),
    ...(missing.length > 0
      ? [`The content of ${missing.length} blobs was lost before the backup: ${missing.join(", ")}`]
      : []),
  ]
}

function isFileError(error: unknown): error is Error {
  return (
    error instanceof Error &&
    "code" in error &&
    /^E[A-Z]+$/.test(String(error.code)) &&
    "syscall" in error
  )
}
