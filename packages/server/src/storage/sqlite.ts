import type { Database } from "./database.ts"
import { unavailable } from "./database-errors.ts"
import { sqliteDialect } from "./dialect.ts"
import { type Statement, sql } from "./sql.ts"
import { SqliteConnection } from "./sqlite-connection.ts"
import { fromSqliteError } from "./sqlite-errors.ts"
import { SqliteWriter, type SqliteWriterLimits } from "./sqlite-writer.ts"

export interface SqliteLimits extends SqliteWriterLimits {
  /** Statements that each connection keeps prepared. */
  readonly preparedMax: number
  /** How long opening waits for another process. */
  readonly openMsMax: number
}

const defaults: SqliteLimits = {
  groupMax: 256,
  waitingMax: 10_000,
  lockMsMax: 5_000,
  patientMsMax: 3_600_000,
  lockRetryMs: 5,
  preparedMax: 500,
  openMsMax: 5_000,
}

const dataVersion = sql`pragma data_version`

/**
 * One connection writes and another reads: a read never sees what is not yet committed, and never waits for a writer.
 * `Bun.SQL` is not used for SQLite, because there a query from elsewhere joins a transaction that happens to be open.
 */
export function openSqlite(path: string, options: Partial<SqliteLimits> = {}): Database {
  const limits = { ...defaults, ...options }
  const writing = connect(path, limits, false)
  const reading = connect(path, limits, true)
  let stopped: Promise<void> | undefined

  function ask(statement: Statement): readonly unknown[] {
    if (stopped !== undefined) throw unavailable("it is closed")
    try {
      return reading.run(statement)
    } catch (error) {
      throw fromSqliteError(error)
    }
  }

  const stamp = oncePerTurn(() => (ask(dataVersion) as [{ data_version: number }])[0].data_version)
  // Whoever was told of a write must not be answered from the state before it, even in the same turn.
  const writer = new SqliteWriter(writing, limits, stamp.forget)
  const database: Database = {
    dialect: sqliteDialect,
    async read<Row>(statement: Statement) {
      return ask(statement) as readonly Row[]
    },
    write: (script, { isPatient = false } = {}) => writer.write(script, isPatient),
    stamp: stamp.ask,
    async ping() {
      await database.read(sql`select 1`)
    },
    stats: () => ({ kind: sqliteDialect.name, connections: 2, inUse: writer.waiting > 0 ? 1 : 0, waiting: writer.waiting }),
    stop() {
      stopped ??= writer.stop().then(() => close(reading, writing))
      return stopped
    },
  }
  return database
}

function connect(path: string, limits: SqliteLimits, isReadonly: boolean): SqliteConnection {
  let connection: SqliteConnection | undefined
  try {
    connection = new SqliteConnection(path, { isReadonly, preparedMax: limits.preparedMax })
    for (const pragma of isReadonly ? readingPragmas(limits) : writingPragmas(limits)) connection.command(`pragma ${pragma}`)
    return connection
  } catch (error) {
    connection?.stop()
    throw fromSqliteError(error)
  }
}

// No mmap: it measured no faster, and with it a failing disk would be a signal that ends the process instead of an error.
function writingPragmas(limits: SqliteLimits): readonly string[] {
  return [
    `busy_timeout = ${limits.openMsMax}`,
    "journal_mode = wal",
    // An acknowledged write must survive a power cut. On macOS only a full fsync reaches the disk.
    "synchronous = full",
    "fullfsync = on",
    "foreign_keys = on",
    "cache_size = -16384",
    // Four times as rarely as by default: most pages of a busy moment are written again before they are copied.
    "wal_autocheckpoint = 4000",
    "journal_size_limit = 67108864",
    "temp_store = memory",
    // The writer waits for other processes itself, without stopping the event loop.
    "busy_timeout = 0",
  ]
}

// A reader meets a lock only for an instant, while another process opens or closes the file.
function readingPragmas(limits: SqliteLimits): readonly string[] {
  return [`busy_timeout = ${limits.openMsMax}`, "query_only = on", "cache_size = -32768", "temp_store = memory"]
}

function close(reading: SqliteConnection, writing: SqliteConnection): void {
  try {
    reading.stop()
    writing.command("pragma wal_checkpoint(truncate)")
  } finally {
    writing.stop()
  }
}

/** Requests that arrived together are answered from one state: SQLite is asked once for all that one turn of the event loop handles. */
function oncePerTurn(ask: () => number): { ask(): number; forget(): void } {
  let answer: number | undefined
  const forget = () => {
    answer = undefined
  }
  return {
    ask() {
      if (answer === undefined) {
        answer = ask()
        setImmediate(forget)
      }
      return answer
    },
    forget,
  }
}
