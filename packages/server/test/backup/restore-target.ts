import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type BackupSummary, createBackupChecker } from "@hamlet/contract/backup"
import type { Migration } from "@hamlet/database"
import { openPostgres } from "@hamlet/database/postgres"
import { openSqlite } from "@hamlet/database/sqlite"
import type { LibsqlOptions } from "@hamlet/owner-databases"
import { toPostgresBackup } from "../../src/storage/backup/databases/postgres.ts"
import { toSqliteBackup } from "../../src/storage/backup/databases/sqlite.ts"
import {
  createFilePlace,
  createLibsqlPlace,
} from "../../src/storage/backup/owner-databases/database-place.ts"
import { createLoader } from "../../src/storage/backup/restore/loader.ts"
import { type Restored, restoreBackup } from "../../src/storage/backup/restore/restore-backup.ts"
import { createRestoreFiles } from "../../src/storage/backup/restore/restore-files.ts"
import type { ContentStore } from "../../src/storage/blobs/object-chunks.ts"
import { migrations as current } from "../../src/storage/migrations/index.ts"
import { type TestApi, testBaseUrl } from "../support/api.ts"
import { databases, type TestDatabase } from "../support/databases.ts"

/** The bytes of a backup, which must be one. */
export async function takeBackup(
  api: TestApi,
): Promise<{ readonly bytes: Uint8Array; readonly summary: BackupSummary }> {
  const headers = { authorization: `Bearer ${api.admin.token}` }
  const response = await api.hamlet.app.request(`${testBaseUrl}/v1/backup`, { headers })
  if (response.status !== 200)
    throw new Error(`Cannot take a backup: ${response.status} ${await response.text()}`)
  const bytes = await response.bytes()
  const checker = createBackupChecker()
  checker.add(bytes)
  return { bytes, summary: checker.end() }
}

/** A place with nothing in it that a backup can be restored to. */
export interface RestoreTarget {
  readonly folder: string
  restore(
    bytes: Uint8Array,
    options?: {
      readonly bucket?: ContentStore
      readonly migrations?: readonly Migration[]
      readonly libsql?: LibsqlOptions
    },
  ): Promise<Restored>
  /** What was restored, opened as a test opens a database. */
  open(): Promise<TestDatabase>
  remove(): Promise<void>
}

/** One that is for the kind of database, which is SQLite where there is no other. */
export async function createRestoreTarget(kind: "SQLite" | "PostgreSQL"): Promise<RestoreTarget> {
  const folder = await mkdtemp(join(tmpdir(), "hamlet-restore-"))
  const server =
    kind === "SQLite"
      ? undefined
      : await databases.find(({ name }) => name === kind)?.open({ isEmpty: true })
  const url = server?.url
  const path = join(folder, "data", "hamlet.db")
  return {
    folder: dirname(path),
    async restore(bytes, { bucket, migrations = current, libsql } = {}) {
      const file = join(folder, "file.backup")
      await writeFile(file, bytes)
      const loader = createLoader(url === undefined ? toSqliteBackup(path) : toPostgresBackup(url))
      const files = createRestoreFiles(
        dirname(path),
        libsql ? createLibsqlPlace(libsql) : createFilePlace(join(dirname(path), "sqlite")),
      )
      return restoreBackup(
        file,
        { loader, files, bucket, migrations },
        { signal: new AbortController().signal, report() {} },
      )
    },
    async open() {
      const db =
        url === undefined ? openSqlite(path) : await openPostgres(url, { connectionsMax: 2 })
      return { db, url, ...(url === undefined ? { path } : {}), close: () => db.stop() }
    },
    async remove() {
      await server?.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The other database, where there is one. */
export function otherThan(kind: string): "SQLite" | "PostgreSQL" {
  return databases.find(({ name }) => name !== kind)?.name ?? "SQLite"
}
