import { Refused, Watchdog } from "@hamlet/kit"
import { type Database, verbs } from "../database.ts"
import { unavailable } from "../errors.ts"
import { type Sql, sql } from "../sql.ts"
import { createClient, type PostgresLimits, postgresDefaults } from "./client.ts"
import { postgresDialect } from "./dialect.ts"
import { PostgresNotices } from "./notices.ts"
import { PostgresPool } from "./pool.ts"
import { describePostgres, parsePostgresUrl } from "./postgres-url.ts"
import { PostgresReader } from "./reader.ts"
import { PostgresSearches } from "./search.ts"
import { PostgresWriter } from "./writer.ts"

/** Older releases no longer get fixes. */
const serverVersionMin = 140_000

/**
 * Reads and writes use different connections: a read never queues behind writes that wait for a
 * lock, and a statement that writes fails as a read.
 */
export async function openPostgres(
  address: string,
  options: Partial<PostgresLimits> = {},
): Promise<Database> {
  const limits = { ...postgresDefaults, ...options }
  const url = parsePostgresUrl(address)
  // The time-outs of the server do not help when it or the network no longer responds.
  const watchdog = new Watchdog(limits.silenceMsMax / 2)
  const searchersMax = Math.max(1, Math.floor(limits.connectionsMax * 0.2))
  const readersMax = Math.max(1, Math.floor(limits.connectionsMax * 0.3))
  const writersMax = Math.max(1, limits.connectionsMax - readersMax - searchersMax)
  const ofSearches = {
    ...limits,
    statementMsMax: Math.min(limits.statementMsMax, limits.searchMsMax),
  }
  const reading = () => createClient({ url, connectionsMax: readersMax, limits, isReadonly: true })
  const writing = () => createClient({ url, connectionsMax: writersMax, limits, isReadonly: false })
  const searching = () =>
    createClient({ url, connectionsMax: searchersMax, limits: ofSearches, isReadonly: true })
  const searchReader = new PostgresReader(
    new PostgresPool(searching, { graceMs: 0 }),
    watchdog,
    ofSearches,
  )
  const searches = new PostgresSearches(searchReader, searchersMax, limits)
  const reader = new PostgresReader(new PostgresPool(reading, { graceMs: 0 }), watchdog, limits)
  const notices = new PostgresNotices(
    () => createClient({ url, connectionsMax: 1, limits, isReadonly: true }),
    limits.connectMsMax,
  )
  const writer = new PostgresWriter({
    pool: new PostgresPool(writing, { graceMs: limits.statementMsMax }),
    connectionsMax: writersMax,
    watchdog,
    limits,
    onNotice: (channel) => notices.notify(channel),
  })
  const urgent = openUrgent(url, watchdog, limits)
  let stopped: Promise<void> | undefined

  const database: Database = {
    ...verbs,
    dialect: postgresDialect,
    openSearch: (searcher) => searches.open(searcher),
    read: <Row>(...given: Sql) => reader.read(sql(...given)) as Promise<readonly Row[]>,
    write: (script, options) => writer.write(script, options),
    writeOne: <Row>(...given: Sql) => writer.writeOne(sql(...given)) as Promise<readonly Row[]>,
    runUrgent: <Row>(...given: Sql) => urgent.writeOne(sql(...given)) as Promise<readonly Row[]>,
    changeCount: undefined,
    notify: (channel) => notices.notify(channel),
    listen: (channel, onNotice) => notices.listen(channel, onNotice),
    async ping() {
      await reader.read(sql`select 1`)
    },
    stats: () => ({
      kind: postgresDialect.name,
      connections: readersMax + searchersMax + writersMax,
      inUse: writer.inUse + Math.min(reader.inFlight, readersMax),
      waiting: writer.waiting,
    }),
    stop() {
      const all = [writer, urgent, reader, searches, notices]
      stopped ??= Promise.all(all.map((part) => part.stop())).then(() => watchdog.stop())
      return stopped
    },
  }

  try {
    await assertSuitable(database.read)
    return database
  } catch (error) {
    await database.stop()
    if (!(error instanceof Refused)) throw error
    const place = describePostgres(url)
    throw new Refused(error.code, `${error.message} (${place})`, { cause: error })
  }
}

/** Runs statements that wait behind no others. */
function openUrgent(url: URL, watchdog: Watchdog, limits: PostgresLimits): PostgresWriter {
  const ofUrgent = {
    ...limits,
    waitMsMax: Math.min(limits.waitMsMax, limits.urgentMsMax),
    statementMsMax: Math.min(limits.statementMsMax, limits.urgentMsMax),
    lockMsMax: Math.min(limits.lockMsMax, limits.urgentMsMax),
  }
  const open = () => createClient({ url, connectionsMax: 1, limits: ofUrgent, isReadonly: false })
  const pool = new PostgresPool(open, { graceMs: 0 })
  return new PostgresWriter({
    pool,
    connectionsMax: 1,
    watchdog,
    limits: ofUrgent,
    onNotice() {},
  })
}

export async function assertSuitable(read: Database["read"]): Promise<void> {
  const [server] = await read<{ number: string; version: string; encoding: string }>(sql`
    select current_setting('server_version_num') as number,
      current_setting('server_version') as version,
      current_setting('server_encoding') as encoding`)
  if (Number(server?.number) < serverVersionMin)
    throw unavailable(`PostgreSQL 14 or newer is required, but the server is ${server?.version}`)
  if (server?.encoding !== "UTF8")
    throw unavailable(`its encoding must be UTF8, but is ${server?.encoding}`)
}
