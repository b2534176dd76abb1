import { raw, type Sql, type SqlValue, sql } from "@hamlet/database"
import {
  createClient,
  fromPostgresError,
  openPostgres,
  type PostgresResult,
  parsePostgresUrl,
  postgresDefaults,
  postgresDialect,
  toPostgresRecords,
} from "@hamlet/database/postgres"
import type { ReservedSQL } from "bun"
import type { BackupDatabase, Cursor, SnapshotRow } from "./backup-database.ts"

const snapshotLimits = {
  ...postgresDefaults,
  statementMsMax: 600_000,
  /** Longer than a client may pause: the spool reports a client that is too slow. */
  idleInTransactionMsMax: 600_000,
}
const snapshotSteps = [
  "begin isolation level repeatable read read only",
  // A backup reads whole tables, one after the other.
  "set local enable_seqscan = on",
  "select 1 from schema_migrations limit 1",
]

/**
 * Statements have no time limit. Locks have one, in case a server was started on the database
 * meanwhile.
 */
const loadLimits = {
  ...postgresDefaults,
  statementMsMax: 0,
  lockMsMax: 10_000,
  idleInTransactionMsMax: 3_600_000,
}
const loadSteps = [
  "begin",
  "set local maintenance_work_mem = '256MB'",
  // The checks of foreign keys join whole tables.
  ...["seqscan", "hashjoin", "mergejoin"].map((plan) => `set local enable_${plan} = on`),
  "lock table users, vals in share row exclusive mode",
]

// Indexes come first in the reverse order: the checks of the foreign keys use them. The index of a
// partitioned table is dropped and created with those of its partitions, but its definition is of
// itself only.
const obstructions = raw(`
  select format('alter table %I drop constraint %I', t.relname, k.conname) as drop,
    format('alter table %I add constraint %I %s', t.relname, k.conname, pg_get_constraintdef(k.oid)) as create, 1 as rank
  from pg_constraint k join pg_class t on t.oid = k.conrelid
  where k.contype = 'f' and t.relnamespace = current_schema()::regnamespace
  union all
  select format('drop index %I', x.relname), replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON '), 2
  from pg_index i join pg_class x on x.oid = i.indexrelid
  where x.relnamespace = current_schema()::regnamespace and not x.relispartition and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)
  order by rank`)

/** A database on a server. A restore fills it in one transaction. */
export function toPostgresBackup(address: string): BackupDatabase {
  const openDatabase = () => openPostgres(address, { connectionsMax: 2 })
  return {
    name: "the database",
    async openSnapshot() {
      const { connection, ...readable } = await open(address, snapshotLimits, true, snapshotSteps)
      return {
        ...readable,
        openCursor: (table, columns, where) =>
          openCursor(connection, `select ${columns.join(", ")} from ${table} where ${where}`),
      }
    },
    inspect: openDatabase,
    openTarget: openDatabase,
    async openLoad() {
      const { dialect, read, stop } = await open(address, loadLimits, false, loadSteps)
      return {
        dialect,
        run: read,
        stop,
        async insert(table, columns, rows) {
          const names = columns.join(", ")
          // A whole batch is one parameter, which PostgreSQL converts from JSON to rows of the table.
          const json = JSON.stringify(
            rows.map((row) =>
              Object.fromEntries(row.map((value, index) => [columns[index], toJsonValue(value)])),
            ),
          )
          await read({
            text: `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1::text::json)`,
            values: [json],
          })
        },
        obstructions,
        completion: ["analyze"],
        brokenReferences: undefined,
      }
    },
    place: async () => {},
    discard() {},
  }
}

async function open(
  address: string,
  limits: typeof postgresDefaults,
  isReadonly: boolean,
  steps: readonly string[],
) {
  const client = createClient({
    url: parsePostgresUrl(address),
    connectionsMax: 1,
    limits,
    isReadonly,
  })
  const stop = () => client.close({ timeout: 0 })
  try {
    const connection = await client.reserve()
    for (const step of steps) await connection.unsafe(step)
    const read = async <Row>(...given: Sql): Promise<readonly Row[]> => {
      const { text, values } = sql(...given)
      const result = connection.unsafe<PostgresResult>(text, values as SqlValue[]).values()
      return toPostgresRecords(await translated(result))
    }
    return { dialect: postgresDialect, connection, read, stop }
  } catch (error) {
    await stop()
    throw fromPostgresError(error)
  }
}

async function openCursor(connection: ReservedSQL, select: string): Promise<Cursor> {
  await translated(connection.unsafe(`declare backup_rows no scroll cursor for ${select}`))
  return {
    next: (count) =>
      translated<readonly SnapshotRow[]>(
        connection.unsafe(`fetch ${count} from backup_rows`).values(),
      ),
    async close() {
      await connection.unsafe("close backup_rows")
    },
  }
}

async function translated<T>(result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    throw fromPostgresError(error)
  }
}

function toJsonValue(value: SqlValue): string | number | null {
  return value instanceof Uint8Array
    ? `\\x${Buffer.from(value.buffer, value.byteOffset, value.length).toString("hex")}`
    : value
}
