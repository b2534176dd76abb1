import { Database as Connection, SQLiteError } from "bun:sqlite"
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { raw, type Sql, type SqlValue, sql } from "@hamlet/database"
import { fromSqliteError, openSqlite, readRecords, sqliteDialect } from "@hamlet/database/sqlite"
import { fts5Index } from "../../search/fts5-index.ts"
import { RestoreRefused } from "../restore/loader.ts"
import type { BackupDatabase, Cursor, SnapshotRow } from "./backup-database.ts"

/**
 * A read transaction. Writes meanwhile grow the write-ahead log, which cannot be truncated before it
 * ends. The first read takes the snapshot.
 */
const snapshotSteps = [
  "pragma busy_timeout = 5000",
  "pragma query_only = on",
  "pragma cache_size = -16384",
  "begin",
  "select count(*) from schema_migrations",
]

/** No journal on disk and no syncs: the file is deleted when anything fails. */
const loadSteps = [
  "pragma journal_mode = memory",
  "pragma synchronous = off",
  "pragma locking_mode = exclusive",
  "pragma foreign_keys = off",
  "pragma cache_size = -262144",
  "begin",
]

/** A database file. A restore fills a file beside it, which replaces it at the end. */
export function toSqliteBackup(path: string): BackupDatabase {
  const beside = `${path}.restoring`
  return {
    name: path,
    async openSnapshot() {
      const connection = open(path, { readonly: true }, snapshotSteps)
      return {
        ...toReadable(connection),
        openCursor: async (table, columns, where) => openCursor(connection, table, columns, where),
      }
    },
    async inspect() {
      try {
        return existsSync(path)
          ? toReadable(open(path, { readonly: true }, ["select count(*) from sqlite_schema"]))
          : undefined
      } catch (error) {
        const { cause } = error as Error
        if (!(cause instanceof SQLiteError)) throw error
        throw new RestoreRefused(`${path} already exists and cannot be read: ${cause.message}`)
      }
    },
    async openTarget() {
      removeDatabase(beside)
      return openSqlite(beside)
    },
    async openLoad() {
      const connection = open(beside, { readwrite: true }, loadSteps)
      const { dialect, read, stop } = toReadable(connection)
      return {
        dialect,
        run: read,
        stop,
        async insert(table, columns, rows) {
          const insert = connection.query(
            `insert into ${table} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
          )
          translated(() => {
            for (const row of rows) insert.run(...row)
          })
        },
        obstructions: raw(
          "select 'drop ' || type || ' ' || name as \"drop\", sql as \"create\" from sqlite_schema where type in ('index', 'trigger') and sql is not null order by type desc",
        ),
        completion: fts5Index.fill,
        brokenReferences: raw("pragma foreign_key_check"),
      }
    },
    async place(assertEmpty) {
      syncPath(beside)
      // A server may have been started meanwhile.
      await assertEmpty()
      removeDatabase(path)
      renameSync(beside, path)
      syncPath(dirname(path))
    },
    discard: () => removeDatabase(beside),
  }
}

function open(
  path: string,
  mode: { readonly: true } | { readwrite: true },
  steps: readonly string[],
): Connection {
  return translated(() => {
    const connection = new Connection(path, mode)
    try {
      for (const step of steps) connection.run(step)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  })
}

function toReadable(connection: Connection) {
  return {
    dialect: sqliteDialect,
    async read<Row>(...given: Sql): Promise<readonly Row[]> {
      const { text, values } = sql(...given)
      return translated(() => readRecords(connection.query<unknown, SqlValue[]>(text), values))
    },
    async stop() {
      connection.close()
    },
  }
}

/** Reads by row id, the order of the rows in the file. */
function openCursor(
  connection: Connection,
  table: string,
  columns: readonly string[],
  where: string,
): Cursor {
  const statement = connection.prepare<unknown, number[]>(
    `select rowid, ${columns.join(", ")} from ${table} where rowid > ? and ${where} order by rowid limit ?`,
  )
  let after = Number.MIN_SAFE_INTEGER
  return {
    async next(count) {
      const found = statement.values(after, count) as SqlValue[][]
      after = Number(found.at(-1)?.[0] ?? after)
      for (const row of found) row.shift()
      return found as readonly SnapshotRow[]
    },
    async close() {
      statement.finalize()
    },
  }
}

/** Reports a full disk as such, not as a fault of the backup. */
function translated<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw fromSqliteError(error)
  }
}

function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${suffix}`, { force: true })
}

/** Syncs the content of a file, or the entries of a folder, to the disk. */
export function syncPath(path: string): void {
  const file = openSync(path, "r")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
