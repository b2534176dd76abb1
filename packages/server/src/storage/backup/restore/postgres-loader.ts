import { type ReservedSQL, SQL } from "bun"
import { migrate } from "../../database/migrate.ts"
import type { SqlValue } from "../../database/sql.ts"
import { migrations } from "../../migrations/index.ts"
import { parsePostgresUrl } from "../../postgres/client.ts"
import { postgresDialect } from "../../postgres/dialect.ts"
import { fromPostgresError } from "../../postgres/errors.ts"
import { openPostgres } from "../../postgres/open.ts"
import { type Loader, RestoreRefused } from "./loader.ts"

interface Made {
  readonly drop: string
  readonly create: string
}

/**
 * What is asked of it takes as long as it takes; but nobody waits for a server that somebody has
 * started on it meanwhile.
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

/** Loads in one transaction. */
export function createPostgresLoader(address: string): Loader {
  const url = parsePostgresUrl(address)
  let client: SQL | undefined
  let connection: ReservedSQL | undefined
  let made: readonly Made[] = []
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
  const ask = async <Row>(
    text: string,
    values: readonly SqlValue[] = [],
  ): Promise<readonly Row[]> => {
    try {
      return await (await connect()).unsafe(text, values as SqlValue[])
    } catch (error) {
      throw fromPostgresError(error)
    }
  }
  const findObstacle = async () => {
    const tables = await ask<{ name: string }>(
      "select relname as name from pg_class where oid in (to_regclass('users'), to_regclass('vals'))",
    )
    for (const { name } of tables) {
      const [row] = await ask(`select 1 from ${name} limit 1`)
      if (row)
        return `there are ${name} in the database already, and only an empty server can be restored into`
    }
    return undefined
  }
  const close = async () => {
    await client?.close({ timeout: 0 })
    client = undefined
    connection = undefined
  }
  return {
    dialect: postgresDialect,
    findObstacle,
    async begin(schemaVersion) {
      await migrateDatabase(address, schemaVersion)
      await ask("begin")
      await ask("lock table users, vals in share row exclusive mode")
      const obstacle = await findObstacle()
      if (obstacle !== undefined) throw new RestoreRefused(obstacle)
      made = [...(await ask<Made>(foreignKeys)), ...(await ask<Made>(indexes))]
      for (const { drop } of made) await ask(drop)
    },
    run: ({ text, values }) => ask(text, values),
    async insert(table, columns, rows) {
      const names = columns.join(", ")
      // A whole batch is one parameter: the server's own JSON reader turns it into rows of the
      // table.
      const json = JSON.stringify(
        rows.map((row) =>
          Object.fromEntries(row.map((value, index) => [columns[index], toJsonValue(value)])),
        ),
      )
      await ask(
        `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1::text::json)`,
        [json],
      )
    },
    async finish(signal) {
      // Indexes first: what checks the foreign keys uses them.
      for (const { create } of made.toReversed()) {
        signal.throwIfAborted()
        await ask(create)
      }
      await ask("analyze")
    },
    // The first server that starts on it brings its schema up to date.
    async commit() {
      try {
        await ask("commit")
      } catch (error) {
        // The connection may have broken after the commit. Whether it has happened, only the
        // database knows.
        await close()
        if ((await findObstacle()) === undefined) throw error
      }
      await close()
    },
    abort: close,
  }
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
