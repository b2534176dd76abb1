import { migrate } from "@hamlet/database"
import { openPostgres, postgresDialect } from "@hamlet/database/postgres"
import { SQL } from "bun"
import { migrations } from "../../packages/server/src/storage/migrations/index.ts"
import type { Ending, SeedTarget } from "./seed.ts"
import type { Value } from "./seeded-table.ts"

interface Made {
  readonly name: string
  readonly drop: string
  readonly create: string
}

/** A database of its own on a PostgreSQL server. */
export function createPostgresTarget(url: string): SeedTarget {
  // One connection, so that the session settings apply to every statement.
  const connection = new SQL(url, {
    adapter: "postgres",
    max: 1,
    connection: { synchronous_commit: "off", maintenance_work_mem: "1GB", jit: "off" },
  })
  let dropped: readonly Made[] = []
  return {
    dialect: postgresDialect,
    async findFingerprint() {
      const [existing] =
        await connection`select 1 as one from pg_tables where schemaname = 'public' and tablename = 'settings'`
      if (!existing) return undefined
      const [row] = await connection`select value from settings where name = 'bench_seed'`
      return row?.value
    },
    async begin() {
      await connection.unsafe("drop schema public cascade; create schema public")
      const db = await openPostgres(url)
      await migrate(db, migrations)
      await db.stop()
      dropped = [
        ...(await findMade(connection, foreignKeys)),
        ...(await findMade(connection, indexes)),
      ]
      for (const { drop } of dropped) await connection.unsafe(drop)
    },
    async insert(table, rows) {
      const columns = table.columns.join(", ")
      // A whole batch is one parameter, which PostgreSQL converts from JSON to rows of the table.
      const json = JSON.stringify(
        rows.map((row) =>
          Object.fromEntries(row.map((value, index) => [table.columns[index], toJsonValue(value)])),
        ),
      )
      await connection.unsafe(
        `insert into ${table.name} (${columns}) select ${columns} from json_populate_recordset(null::${table.name}, $1::text::json)`,
        [json],
      )
    },
    endings: async () => toEndings(connection, dropped),
    async writeFingerprint(text) {
      await connection`insert into settings (name, value) values ('bench_seed', ${text})`
    },
    stop: () => connection.close(),
  }
}

function toJsonValue(value: Value): string | number | null {
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value
}

const foreignKeys = `
  select conname as name, format('alter table %I drop constraint %I', conrelid::regclass, conname) as drop,
    format('alter table %I add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create
  from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`

// Indexes of partitions are dropped and made with the index of the whole table.
const indexes = `
  select x.relname as name, format('drop index %I', x.relname) as drop, replace(pg_get_indexdef(x.oid), ' ON ONLY ', ' ON ') as create
  from pg_class x join pg_index i on i.indexrelid = x.oid
  where x.relnamespace = 'public'::regnamespace and not x.relispartition
    and not exists (select 1 from pg_constraint where conindid = x.oid)`

async function findMade(connection: SQL, query: string): Promise<readonly Made[]> {
  return await connection.unsafe(query)
}

function toEndings(connection: SQL, dropped: readonly Made[]): readonly Ending[] {
  const run = (text: string) => async () => {
    await connection.unsafe(text)
  }
  return [
    // Indexes first: the checks of the foreign keys use them.
    ...dropped.toReversed().map(({ name, create }) => ({ name: `make ${name}`, run: run(create) })),
    { name: "vacuum and analyze", run: run("vacuum (analyze)") },
    { name: "checkpoint", run: run("checkpoint") },
  ]
}
