import { Database as Connection } from "bun:sqlite"
import type { SqlValue, Statement } from "../database/sql.ts"
import { sqliteDialect } from "../sqlite/dialect.ts"
import { fromSqliteError } from "../sqlite/errors.ts"
import { BatchSize, type Snapshot, type SnapshotRow, weigh } from "./snapshot.ts"

const pragmas = ["busy_timeout = 5000", "query_only = on", "cache_size = -16384"]

/**
 * A read transaction on a connection of its own. Writes meanwhile grow the write-ahead log, which
 * cannot be truncated before this transaction ends.
 */
export function openSqliteSnapshot(path: string): Snapshot {
  const connection = open(path)
  return {
    dialect: sqliteDialect,
    async read<Row>({ text, values }: Statement) {
      return connection.query<Row, SqlValue[]>(text).all(...values)
    },
    async *readRows(table, columns, where) {
      // By row id, the order of the rows in the file.
      const statement = connection.prepare<unknown, number[]>(
        `select rowid, ${columns.join(", ")} from ${table} where rowid > ? and ${where} order by rowid limit ?`,
      )
      const size = new BatchSize()
      try {
        for (let after = Number.MIN_SAFE_INTEGER; ; ) {
          const count = size.rows
          const found = statement.values(after, count) as SqlValue[][]
          const last = found.at(-1)
          if (!last) return
          after = Number(last[0])
          for (const row of found) row.shift()
          size.adapt(weigh(found))
          yield found as readonly SnapshotRow[]
          if (found.length < count) return
        }
      } finally {
        statement.finalize()
      }
    },
    async stop() {
      connection.close()
    },
  }
}

function open(path: string): Connection {
  let connection: Connection | undefined
  try {
    connection = new Connection(path, { readonly: true })
    for (const pragma of pragmas) connection.run(`pragma ${pragma}`)
    connection.run("begin")
    // The first read takes the snapshot.
    connection.query("select count(*) from schema_migrations").all()
    return connection
  } catch (error) {
    connection?.close()
    throw fromSqliteError(error)
  }
}
