import { type ReservedSQL, SQL } from "bun"
import { migrate } from "../../database/migrate.ts"
import type { SqlValue } from "../../database/sql.ts"
import { migrations } from "../../migrations/index.ts"
import { parsePostgresUrl } from "../../postgres/client.ts"
import { postgresDialect } from "../../postgres/dialect.ts"
import { fromPostgresError } from "../../postgres/errors.ts"
import { openPostgres } from "../../postgres/open.ts"
import { type Loader, RestoreRefused } from "./loader.ts"

/** An index or a foreign key. */
interface Dropped {
  readonly drop: string
  readonly create: string
}

/**
 * Statements have no time limit. Locks have one, in case a server was started on the database
 * meanwhile.
 */
const settings = {
  application_name: "hamlet restore",
  synchronous_commit: "on",
  statement_timeout: 0,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 3_600_000,
  maintenance_work_mem: "256MB",
  timezone: "UTC",
  jit: "off",
}

type Query = <Row>(text: string, values?: readonly SqlValue[]) => Promise<readonly Row[]>

/** Loads a backup in one transaction. */
export function createPostgresLoader(address: string): Loader {
  const url = parsePostgresUrl(address)
  let client: SQL | undefined
  let connection: ReservedSQL | undefined
  let dropped: readonly Dropped[] = []
  const connect = async () => {
    client ??= new SQL(url.href, {
      adapter: "postgres",
      max: 1,
      connection: settings,
      database: decodeURIComponent(url.pathname.slice(1)),
    })
    connection ??= await client.reserve()
    return connection
  }
  const query: Query = async (text, values = []) => {
    try {
      return await (await connect()).unsafe(text, values as SqlValue[])
    } catch (error) {
      throw fromPostgresError(error)
    }
  }
  const close = async () => {
    await client?.close({ timeout: 0 })
    client = undefined
    connection = undefined
  }
  return {
    dialect: postgresDialect,
    findObstacle: () => findObstacle(query),
    async begin(schemaVersion) {
      await migrateDatabase(address, schemaVersion)
      await query("begin")
      await query("lock table users, vals in share row exclusive mode")
      const obstacle = await findObstacle(query)
      if (obstacle !== undefined) throw new RestoreRefused(obstacle)
      dropped = [...(await query<Dropped>(foreignKeys)), ...(await query<Dropped>(indexes))]
      for (const { drop } of dropped) await query(drop)
    },
    run: ({ text, values }) => query(text, values),
    async insert(table, columns, rows) {
      const names = columns.join(", ")
      // A whole batch is one parameter, which PostgreSQL converts from JSON to rows of the table.
      const json = JSON.stringify(
        rows.map((row) =>
          Object.fromEntries(row.map((value, index) => [columns[index], toJsonValue(value)])),
        ),
      )
      await query(
        `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1::text::json)`,
        [json],
      )
    },
    async finish(signal) {
      // Indexes first: the checks of the foreign keys use them.
      for (const { create } of dropped.toReversed()) {
        signal.throwIfAborted()
        await query(create)
      }
      await query("analyze")
    },
    // The first server that starts migrates the schema.
    async commit() {
      try {
        await query("commit")
      } catch (error) {
        // The connection may have broken after the commit, so ask the database whether it happened.
        await close()
        if ((await findObstacle(query)) === undefined) throw error
      }
      await close()
    },
    abort: close,
  }
}

/** Why the database is not empty; undefined if it is. */
async function findObstacle(query: Query): Promise<string | undefined> {
  const tables = await query<{ name: string }>(
    "select relname as name from pg_class where oid in (to_regclass('users'), to_regclass('vals'))",
  )
  for (const { name } of tables) {
    const [row] = await query(`select 1 from ${name} limit 1`)
    if (row) return `the database already contains ${name}, and a restore needs an empty server`
  }
  return undefined
}

const foreignKeys = `
  select format('alter table %I drop constraint %I', t.relname, k.conname) as drop,
    format('alter table %I add constraint %I %s', t.relname, k.conname, pg_get_constraintdef(k.oid)) as create
  from pg_constraint k join pg_class t on t.oid = k.conrelid
  where k.contype = 'f' and t.relnamespace = current_schema()::regnamespace`

const indexes = `
  select format('drop index %I', x.relname) as drop, pg_get_indexdef(i.indexrelid) as create
  from pg_index i join pg_class x on x.oid = i.indexrelid
  where x.relnamespace = current_schema()::regnamespace and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)`

function toJsonValue(value: SqlValue): string | number | null {
  return value instanceof Uint8Array
    ? `\\x${Buffer.from(value.buffer, value.byteOffset, value.length).toString("hex")}`
    : value
}

async function migrateDatabase(address: string, versionMax: number): Promise<void> {
  const db = await openPostgres(address, { connectionsMax: 2 })
  try {
    await migrate(
      db,
      migrations.filter(({ version }) => version <= versionMax),
    )
  } finally {
    await db.stop()
  }
}
