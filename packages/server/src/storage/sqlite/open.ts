import { EventEmitter } from "node:events"
import { type Database, rows, verbs } from "../database/database.ts"
import { unavailable } from "../database/errors.ts"
import { searchDefaults } from "../database/search-limits.ts"
import { type Sql, type Statement, sql } from "../database/sql.ts"
import { createChangeCounter } from "./change-counter.ts"
import { connect, type SqliteConnection } from "./connection.ts"
import { createFile, watchFile } from "./database-file.ts"
import { sqliteDialect } from "./dialect.ts"
import { fromSqliteError } from "./errors.ts"
import { runWriterLimits, SqliteRunWriter } from "./run-writer.ts"
import { SqliteSearches } from "./search.ts"
import { SqliteWriter, writerLimits } from "./writer.ts"

const defaults = { ...searchDefaults, ...writerLimits, ...runWriterLimits }

export type SqliteLimits = Readonly<typeof defaults>

const dataVersion = sql`pragma data_version`

/**
 * One connection writes and another one reads: a read never sees uncommitted data and never waits
 * for a writer. A third connection, on a thread of its own, writes large batches of runs and deletes
 * old ones. `Bun.SQL` is not used for SQLite, because there an unrelated query joins a transaction
 * that happens to be open.
 */
export function openSqlite(path: string, options: Partial<SqliteLimits> = {}): Database {
  const limits = { ...defaults, ...options }
  createFile(path)
  const writing = connect(path, limits, false)
  const reading = connect(path, limits, true)
  let stopped: Promise<void> | undefined

  function read(statement: Statement): readonly unknown[] {
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
    () => (read(dataVersion) as [{ dataVersion: number }])[0].dataVersion,
  )
  const file = watchFile(path)
  const notices = new EventEmitter()
  const onNotice = (channel: string) => void notices.emit(channel)
  const writer = new SqliteWriter(writing, limits, {
    assertWritable: file.assertPresent,
    onCommit: changes.expire,
    onNotice,
  })
  const runWriter = new SqliteRunWriter(path, limits, onNotice)
  const searches = new SqliteSearches(path, limits)
  const database: Database = {
    ...verbs,
    dialect: sqliteDialect,
    openSearch: (searcher) => searches.open(searcher),
    async read<Row>(...given: Sql) {
      return read(sql(...given)) as readonly Row[]
    },
    write(script, { isPatient = false, runs } = {}) {
      return writer.write(
        script,
        isPatient,
        runs && runWriter.canWrite(runs) ? () => runWriter.write(runs) : undefined,
      )
    },
    writeOne: (...given) => writer.write(() => rows(...given), false),
    runUrgent: (...given) => writer.write(() => rows(...given), false),
    changeCount() {
      if (stopped !== undefined) throw unavailable("it is closed")
      return changes.read()
    },
    notify: onNotice,
    listen(channel, onNotice) {
      notices.on(channel, onNotice)
      return () => void notices.off(channel, onNotice)
    },
    async ping() {
      file.assertPresent()
      await database.read(sql`select 1`)
    },
    stats() {
      const { waiting } = writer
      return {
        kind: sqliteDialect.name,
        connections: runWriter.isReady ? 3 : 2,
        inUse: waiting > 0 ? 1 : 0,
        waiting,
      }
    },
    stop() {
      stopped ??= writer
        .stop()
        .then(() => Promise.all([runWriter.stop(), searches.stop()]))
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
    // The disk is full or broken. Acknowledged writes are in the WAL, which is read when the
    // database is opened again.
  } finally {
    writing.stop()
  }
}
