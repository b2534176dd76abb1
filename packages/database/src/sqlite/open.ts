import { EventEmitter } from "node:events"
import { type Database, rows, type ThreadWrite, verbs } from "../database.ts"
import { unavailable } from "../errors.ts"
import { searchDefaults } from "../searches.ts"
import { type Sql, type Statement, sql } from "../sql.ts"
import { createChangeCounter } from "./change-counter.ts"
import { connect, connectLimits, type SqliteConnection } from "./connection.ts"
import { createFile, watchFile } from "./database-file.ts"
import { sqliteDialect } from "./dialect.ts"
import { fromSqliteError } from "./errors.ts"
import { SqliteSearches } from "./search.ts"
import { SqliteThreadWriter } from "./thread-writer.ts"
import { type Delegate, SqliteWriter, writerLimits } from "./writer.ts"

const defaults = { ...connectLimits, ...searchDefaults, ...writerLimits }

export type SqliteLimits = Readonly<typeof defaults>

const dataVersion = sql`pragma data_version`

/**
 * One connection writes and another one reads: a read never sees uncommitted data and never waits
 * for a writer. Large writes have further connections, on threads of their own. `Bun.SQL` is not used for SQLite, because there an unrelated query joins a transaction
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
  /** By the module of their thread. */
  const threadWriters = new Map<string, SqliteThreadWriter>()
  function findDelegate({ module, input, isLarge }: ThreadWrite): Delegate | undefined {
    const thread =
      threadWriters.get(module.href) ??
      new SqliteThreadWriter(module, { ...limits, path }, onNotice)
    threadWriters.set(module.href, thread)
    return thread.canWrite({ isLarge }) ? () => thread.write(input) : undefined
  }
  const searches = new SqliteSearches(path, limits)
  const database: Database = {
    ...verbs,
    dialect: sqliteDialect,
    openSearch: (searcher) => searches.open(searcher),
    async read<Row>(...given: Sql) {
      return read(sql(...given)) as readonly Row[]
    },
    write: (script, { isPatient = false, byThread } = {}) =>
      writer.write(script, isPatient, byThread && findDelegate(byThread)),
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
        connections: 2 + [...threadWriters.values()].filter(({ isReady }) => isReady).length,
        inUse: waiting > 0 ? 1 : 0,
        waiting,
      }
    },
    stop() {
      stopped ??= writer
        .stop()
        .then(() => Promise.all([searches, ...threadWriters.values()].map((part) => part.stop())))
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
