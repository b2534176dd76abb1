import type { Database } from "../database/database.ts"
import { unavailable } from "../database/errors.ts"
import { type Statement, sql } from "../database/sql.ts"
import { type SearchLimits, searchDefaults } from "../search/search-limits.ts"
import { createChangeCounter } from "./change-counter.ts"
import { connect, type SqliteConnection } from "./connection.ts"
import { watchFile } from "./database-file.ts"
import { sqliteDialect } from "./dialect.ts"
import { fromSqliteError } from "./errors.ts"
import { type RunWriterLimits, SqliteRunWriter } from "./run-writer.ts"
import { SqliteSearches } from "./search.ts"
import { SqliteWriter, type SqliteWriterLimits } from "./writer.ts"

export interface SqliteLimits extends SqliteWriterLimits, RunWriterLimits, SearchLimits {}

const defaults: SqliteLimits = {
  ...searchDefaults,
  groupMax: 256,
  waitingMax: 10_000,
  lockMsMax: 5_000,
  patientMsMax: 3_600_000,
  lockRetryMs: 5,
  preparedMax: 500,
  openMsMax: 5_000,
  scribeRunsMin: 16,
  scribeBytesMin: 262_144,
}

const dataVersion = sql`pragma data_version`

/**
 * One connection writes and another reads: a read never sees what is not yet committed, and never
 * waits for a writer. A third one, on a thread of its own, writes large batches of runs. `Bun.SQL`
 * is not used for SQLite, because there a query from elsewhere joins a transaction that happens to
 * be open.
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

  // On the connection that only reads, every commit changes it, those of the other connections of
  // this process included.
  const changes = createChangeCounter(
    () => (ask(dataVersion) as [{ data_version: number }])[0].data_version,
  )
  const file = watchFile(path)
  const writer = new SqliteWriter(writing, limits, {
    assertWritable: file.assertThere,
    onCommit: changes.expire,
  })
  const scribe = new SqliteRunWriter(path, limits)
  const searches = new SqliteSearches(path, limits)
  const database: Database = {
    dialect: sqliteDialect,
    openSearch: (searcher) => searches.open(searcher),
    async read<Row>(statement: Statement) {
      return ask(statement) as readonly Row[]
    },
    write(script, { isPatient = false, runs } = {}) {
      return writer.write(
        script,
        isPatient,
        runs && scribe.canWrite(runs) ? () => scribe.write(runs) : undefined,
      )
    },
    changeCount() {
      if (stopped !== undefined) throw unavailable("it is closed")
      return changes.read()
    },
    async ping() {
      file.assertThere()
      await database.read(sql`select 1`)
    },
    stats() {
      const { waiting } = writer
      return {
        kind: sqliteDialect.name,
        connections: scribe.isThere ? 3 : 2,
        inUse: waiting > 0 ? 1 : 0,
        waiting,
      }
    },
    stop() {
      stopped ??= writer
        .stop()
        .then(() => Promise.all([scribe.stop(), searches.stop()]))
        .then(() => close(reading, writing))
      return stopped
    },
  }
  return database
}

function close(reading: SqliteConnection, writing: SqliteConnection): void {
  try {
    reading.stop()
    writing.command("pragma wal_checkpoint(truncate)")
  } catch {
    // The disk is full or broken. What was acknowledged is in the log, which the next one who opens
    // the database reads.
  } finally {
    writing.stop()
  }
}
