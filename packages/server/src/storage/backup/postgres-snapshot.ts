import type { ReservedSQL } from "bun"
import type { SqlValue } from "../database/sql.ts"
import { createClient, parsePostgresUrl, postgresDefaults } from "../postgres/client.ts"
import { postgresDialect } from "../postgres/dialect.ts"
import { fromPostgresError } from "../postgres/errors.ts"
import { BatchSize, type Snapshot, type SnapshotRow, weigh } from "./snapshot.ts"

const limits = {
  ...postgresDefaults,
  statementMsMax: 600_000,
  /** Longer than a client may pause: the spool reports a client that is too slow. */
  idleInTransactionMsMax: 600_000,
}

/** One transaction that sees the database as it was when it began, on a connection of its own. */
export async function openPostgresSnapshot(address: string): Promise<Snapshot> {
  const client = createClient({
    url: parsePostgresUrl(address),
    connectionsMax: 1,
    limits,
    isReadonly: true,
  })
  const stop = () => client.close({ timeout: 0 })
  try {
    const connection = await client.reserve()
    await connection.unsafe("begin isolation level repeatable read read only")
    // A backup reads whole tables, one after the other.
    await connection.unsafe("set local enable_seqscan = on")
    await connection.unsafe("select 1 from schema_migrations limit 1")
    return {
      dialect: postgresDialect,
      read: ({ text, values }) => query(() => connection.unsafe(text, values as SqlValue[])),
      readRows: (table, columns, where) =>
        readRows(connection, `select ${columns.join(", ")} from ${table} where ${where}`),
      stop,
    }
  } catch (error) {
    await stop()
    throw fromPostgresError(error)
  }
}

async function* readRows(
  connection: ReservedSQL,
  select: string,
): AsyncGenerator<readonly SnapshotRow[], void> {
  await query(() => connection.unsafe(`declare backup_rows no scroll cursor for ${select}`))
  const size = new BatchSize()
  for (;;) {
    const count = size.rows
    const found: readonly SnapshotRow[] = await query(() =>
      connection.unsafe(`fetch ${count} from backup_rows`).values(),
    )
    size.adapt(weigh(found))
    if (found.length > 0) yield found
    if (found.length < count) break
  }
  await query(() => connection.unsafe("close backup_rows"))
}

async function query<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw fromPostgresError(error)
  }
}
