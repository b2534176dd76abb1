import { accessSync, constants, mkdirSync } from "node:fs"
import { join } from "node:path"
import {
  type Database,
  describePostgres,
  findCompleteSince,
  guardSchema,
  migrate,
  NewerSchema,
  watchDatabase,
} from "@hamlet/database"
import { SlowLog } from "@hamlet/kit"
import type { Runner } from "@hamlet/sandbox"
import type { Config } from "../config/config.ts"
import { AppError } from "../domain/app-error.ts"
import type { CodeFormatter } from "../domain/modules/format-code.ts"
import type { DependencyResolver } from "../domain/modules/lockfiles.ts"
import { createLog, type Log } from "../http/ops/log.ts"
import { guardRoles } from "../storage/access/guard-roles.ts"
import { findKeyFile, loadKeyFile } from "../storage/accounts/key-file.ts"
import type { DatabaseHome } from "../storage/backup/owner-databases/owner-database-source.ts"
import { findLostDatabase, lostDatabaseAdvice } from "../storage/lost-database.ts"
import { migrations } from "../storage/migrations/index.ts"
import { openTraces } from "./traces.ts"

/** The parts that a test replaces. */
export interface Replacements {
  open?(config: Config): Promise<Database>
  readonly runner?: Runner
  /** Null for none: remote imports of vals are then never fetched. */
  readonly resolver?: DependencyResolver | null
  readonly formatter?: CodeFormatter
  writeLog?(text: string): void
}

/** What every noun is built on. */
export type Foundation = Awaited<ReturnType<typeof openFoundation>>

/** The schema since which a version that imports packages has a lockfile. */
const lockfilesSchema = 3

/** Opens the database, migrates it, and loads or creates the encryption keys. */
export async function openFoundation(
  config: Config,
  { open = openDatabase, writeLog = writeToStderr }: Replacements,
) {
  prepareDataDir(config.dataDir)
  const existingKeys = config.secretKeys ?? findKeyFile(config.dataDir)
  const db = await open(config)
  try {
    const log = createLog(config.logLevel, writeLog)
    const { to: schemaVersion } = await migrate(db, migrations, (name, attempts) =>
      log.warn("migration_waits_for_lock", { name, attempts }),
    )
    // Created after the schema: a key file beside an empty database means that the database is lost.
    const keys = existingKeys ?? loadKeyFile(config.dataDir)
    const lockfilesSince = await findCompleteSince(db, lockfilesSchema)
    const slowStatements = new SlowLog(config.slowStatementMs, (fields) =>
      log.warn("slow_statement", fields),
    )
    const watched = watchDatabase(db, slowStatements)
    const schema = guardSchema(guardRoles(watched.db), schemaVersion, (problem) =>
      log.error("newer_schema", { problem }),
    )
    const nodeId = Bun.randomUUIDv7()
    const onErrorOf = createErrorLog(log)
    const traces = await openTraces(config, nodeId, onErrorOf("traces"))
    return {
      config,
      /** Refuses writes once another node has migrated the database to a newer schema. */
      db: schema.db,
      schema,
      schemaVersion,
      /** When the migration ran that introduced lockfiles, in milliseconds. */
      lockfilesSince,
      /** The keys that encrypt secrets, the current one first. */
      keys,
      log,
      databaseHealth: watched.health,
      nodeId,
      /** Both are undefined where traces are off. */
      traces,
      tracer: traces?.tracer,
      slowRequests: new SlowLog(config.slowRequestMs, (fields) => log.warn("slow_request", fields)),
      now: Date.now,
      newId: (): string => Bun.randomUUIDv7(),
      /** Logs errors of background work; the log names the task, and the step of it that failed. */
      onErrorOf,
    }
  } catch (error) {
    await db.stop()
    throw error
  }
}

function createErrorLog(log: Log) {
  return (task: string) => (error: unknown, step?: string) => {
    // Already logged by the guard; every background write fails with it from then on.
    if (error instanceof NewerSchema) return
    const name = step === undefined ? task : `${task}: ${step}`
    log.error("background", { task: name, error: toLogText(error) })
  }
}

/** The kind of database and its place, for the operator. */
export function describeDatabase({ config, db }: Foundation): string {
  const place = config.databaseUrl
    ? `, ${describePostgres(new URL(config.databaseUrl))}`
    : ` in ${sqlitePath(config)}`
  return `${db.dialect.name}${place}`
}

/** Where SQLite keeps the database. */
export function sqlitePath(config: Config): string {
  return join(config.dataDir, "hamlet.db")
}

/** Chooses the home of users' databases. There is none where the nodes share only PostgreSQL. */
export function chooseDatabaseHome(config: Config): DatabaseHome {
  const { databaseUrl, dataDir, storage, libsql } = config
  if (libsql) return { kind: "libsql", server: libsql }
  const isShared = databaseUrl !== undefined
  if (isShared && !storage.isDataDirShared) return { kind: "none" }
  return { kind: "files", folder: join(dataDir, "sqlite"), isShared }
}

function writeToStderr(text: string): void {
  process.stderr.write(text)
}

function prepareDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : cause
    throw new AppError("database_unavailable", `Cannot use the data folder "${path}": ${reason}`, {
      cause,
    })
  }
}

/** Only the database that is used is loaded. */
async function openDatabase(config: Config): Promise<Database> {
  if (config.databaseUrl) {
    const { openPostgres } = await import("@hamlet/database/postgres")
    return openPostgres(config.databaseUrl, { connectionsMax: config.databaseConnectionsMax })
  }
  const lost = findLostDatabase(config.dataDir)
  if (lost !== undefined)
    throw new AppError("database_unavailable", `Cannot start: ${lost}; ${lostDatabaseAdvice}`)
  const { openSqlite } = await import("@hamlet/database/sqlite")
  return openSqlite(sqlitePath(config))
}

/** An expected error is one line; anything else is a bug and is logged with its stack. */
function toLogText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error instanceof AppError ? error.message : (error.stack ?? error.message)
}
