import { Database as Connection } from "bun:sqlite"
import { existsSync, mkdirSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { migrate } from "@hamlet/database"
import { openSqlite, sqliteDialect } from "@hamlet/database/sqlite"
import { migrations } from "../../packages/server/src/storage/migrations/index.ts"
import type { Ending, SeedTarget } from "./seed.ts"

interface Made {
  readonly type: "index" | "trigger"
  readonly name: string
  readonly sql: string
}

const limits = { singleRows: 1_000 }

/** A SQLite file that is filled without waiting for the disk. It is consistent only at the end. */
export function createSqliteTarget(path: string): SeedTarget {
  let connection: Connection | undefined
  let dropped: readonly Made[] = []
  const open = () => {
    if (!connection) throw new Error("Cannot seed: begin was not called")
    return connection
  }
  return {
    dialect: sqliteDialect,
    findFingerprint: async () => (existsSync(path) ? readFingerprint(path) : undefined),
    async begin() {
      await createSchema(path)
      connection = new Connection(path)
      for (const pragma of [
        "journal_mode = memory",
        "synchronous = off",
        "locking_mode = exclusive",
        "cache_size = -1048576",
        "temp_store = memory",
      ]) {
        connection.run(`pragma ${pragma}`)
      }
      dropped = connection
        .query<Made, []>(
          "select type, name, sql from sqlite_master where type in ('index', 'trigger') and sql is not null",
        )
        .all()
      for (const { type, name } of dropped) connection.run(`drop ${type} ${name}`)
      // One transaction for everything: a page that many batches change is written once.
      connection.run("begin")
    },
    async insert(table, rows) {
      const insert = open().query(
        `insert into ${table.name} (${table.columns.join(", ")}) values (${table.columns.map(() => "?").join(", ")})`,
      )
      for (const row of rows) insert.run(...row)
    },
    endings: async () => toEndings(open(), dropped),
    async writeFingerprint(text) {
      open().run("insert into settings (name, value) values ('bench_seed', ?)", [text])
    },
    async stop() {
      connection?.close()
    },
  }
}

function readFingerprint(path: string): string | undefined {
  const connection = new Connection(path, { readonly: true })
  try {
    return connection
      .query<{ value: string }, []>("select value from settings where name = 'bench_seed'")
      .get()?.value
  } catch {
    // Not our schema, or an incomplete one: it is created again.
    return undefined
  } finally {
    connection.close()
  }
}

async function createSchema(path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true })
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true })
  const db = openSqlite(path)
  await migrate(db, migrations)
  await db.stop()
}

function toEndings(connection: Connection, dropped: readonly Made[]): readonly Ending[] {
  const indexes = dropped.filter(({ type }) => type === "index")
  const triggers = dropped.filter(({ type }) => type === "trigger")
  const searchIndexes = connection
    .query<{ name: string }, []>(
      "select name from sqlite_master where sql like 'create virtual table % using fts5 %'",
    )
    .all()
  return [
    { name: "commit", run: () => void connection.run("commit") },
    ...indexes.map(({ name, sql }) => ({
      name: `index ${name}`,
      run: () => void connection.run(sql),
    })),
    ...searchIndexes.map(({ name }) => ({
      name: `index ${name}`,
      run: () => fillSearchIndex(connection, name),
    })),
    { name: "triggers", run: () => triggers.forEach(({ sql }) => void connection.run(sql)) },
    { name: "check of foreign keys", run: () => assertForeignKeys(connection) },
    { name: "write-ahead log", run: () => void connection.run("pragma journal_mode = wal") },
  ]
}

/**
 * One statement builds most of an index; 'rebuild' would include the vals that are not public. The
 * last rows are inserted one by one, so that the index has as many segments as one that grew in
 * production.
 */
function fillSearchIndex(connection: Connection, name: string): void {
  const columns = connection
    .query<{ name: string }, []>(`pragma table_info(${name})`)
    .all()
    .map((column) => column.name)
  const last =
    connection.query<{ key: number }, []>("select max(key) as key from search_texts").get()?.key ??
    0
  const add = `insert into ${name} (rowid, ${columns}) select key, ${columns} from search_texts where is_public = 1`
  connection.run(`${add} and key <= ? order by key`, [last - limits.singleRows])
  for (let key = Math.max(1, last - limits.singleRows + 1); key <= last; key++)
    connection.run(`${add} and key = ?`, [key])
}

function assertForeignKeys(connection: Connection): void {
  const broken = connection.query("pragma foreign_key_check").all()
  if (broken.length > 0)
    throw new Error(
      `Cannot seed: ${broken.length} rows refer to nothing, such as ${JSON.stringify(broken[0])}`,
    )
}
