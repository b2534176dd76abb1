import { Database as Connection, SQLiteError } from "bun:sqlite"
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { migrate } from "../../database/migrate.ts"
import type { SqlValue, Statement } from "../../database/sql.ts"
import { migrations } from "../../migrations/index.ts"
import { sqliteDialect } from "../../sqlite/dialect.ts"
import { fromSqliteError } from "../../sqlite/errors.ts"
import { openSqlite } from "../../sqlite/open.ts"
import { type Loader, RestoreRefused } from "./loader.ts"

/** No journal on disk and no syncs: the file is deleted when anything fails. */
const pragmas = [
  "journal_mode = memory",
  "synchronous = off",
  "locking_mode = exclusive",
  "foreign_keys = off",
  "cache_size = -262144",
]

/** An index or a trigger. */
interface Dropped {
  readonly type: "index" | "trigger"
  readonly name: string
  readonly sql: string
}

/** Loads a backup into a file beside the database, which replaces it at the end. */
export function createSqliteLoader(path: string): Loader {
  const beside = `${path}.restoring`
  let connection: Connection | undefined
  let dropped: readonly Dropped[] = []
  const open = () => {
    if (!connection) throw new Error("Cannot load: begin was not called")
    return connection
  }
  return {
    dialect: sqliteDialect,
    findObstacle: async () => findObstacle(path),
    async begin(schemaVersion) {
      removeDatabase(beside)
      await migrateFile(beside, schemaVersion)
      connection = new Connection(beside, { readwrite: true })
      for (const pragma of pragmas) connection.run(`pragma ${pragma}`)
      dropped = connection
        .query<Dropped, []>(
          "select type, name, sql from sqlite_schema where type in ('index', 'trigger') and sql is not null",
        )
        .all()
      for (const { type, name } of dropped) connection.run(`drop ${type} ${name}`)
      connection.run("begin")
    },
    async run<Row>({ text, values }: Statement) {
      const query = open().query<Row, SqlValue[]>(text)
      return translated(() => query.all(...values))
    },
    async insert(table, columns, rows) {
      const insert = open().query(
        `insert into ${table} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
      )
      translated(() => {
        for (const row of rows) insert.run(...row)
      })
    },
    async finish(signal) {
      const ofType = (wanted: Dropped["type"]) =>
        dropped.filter(({ type }) => type === wanted).map(({ sql }) => sql)
      for (const statement of [
        ...ofType("index"),
        ...sqliteDialect.search.fill,
        ...ofType("trigger"),
      ]) {
        // Each may block the thread for minutes: let signals through in between.
        await Bun.sleep(0)
        signal.throwIfAborted()
        translated(() => open().run(statement))
      }
      const [broken] = open()
        .query<{ table: string; parent: string }, []>("pragma foreign_key_check")
        .all()
      if (broken)
        throw new RestoreRefused(
          `a row of ${broken.table} refers to a missing row of ${broken.parent}`,
        )
      open().run("commit")
    },
    async commit() {
      connection?.close()
      connection = undefined
      await migrateFile(beside)
      syncPath(beside)
      // A server may have been started meanwhile.
      const obstacle = findObstacle(path)
      if (obstacle !== undefined) throw new RestoreRefused(obstacle)
      removeDatabase(path)
      renameSync(beside, path)
      syncPath(dirname(path))
    },
    async abort() {
      connection?.close()
      removeDatabase(beside)
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

function findObstacle(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  let connection: Connection | undefined
  try {
    connection = new Connection(path, { readonly: true })
    const tables = connection
      .query<{ name: string }, []>("select name from sqlite_schema where name in ('users', 'vals')")
      .all()
    const table = tables.find(({ name }) =>
      connection?.query(`select 1 from ${name} limit 1`).get(),
    )
    return table && `${path} already contains ${table.name}, and a restore needs an empty server`
  } catch (error) {
    if (error instanceof SQLiteError)
      return `${path} already exists and cannot be read: ${error.message}`
    throw error
  } finally {
    connection?.close()
  }
}

async function migrateFile(path: string, versionMax = Number.POSITIVE_INFINITY): Promise<void> {
  const db = openSqlite(path)
  try {
    await migrate(
      db,
      migrations.filter(({ version }) => version <= versionMax),
    )
  } finally {
    await db.stop()
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
