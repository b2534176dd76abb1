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
  const toClient = (connectionsMax: number, isReadonly: boolean, own: PostgresLimits) => () =>
    createClient({ url, connectionsMax, limits: own, isReadonly })
  const toReader = (connectionsMax: number, own: PostgresLimits) =>
    new PostgresReader(
      new PostgresPool(toClient(connectionsMax, true, own), { graceMs: 0 }),
      watchdog,
      own,
    )
  const reader = toReader(readersMax, limits)
  const ofSearches = limitStatements(limits, limits.searchMsMax)
  const searches = new PostgresSearches(toReader(searchersMax, ofSearches), searchersMax, limits)
  const notices = new PostgresNotices(toClient(1, true, limits), limits.connectMsMax)
  const writer = new PostgresWriter({
    pool: new PostgresPool(toClient(writersMax, false, limits), { graceMs: limits.statementMsMax }),
    connectionsMax: writersMax,
    watchdog,
    limits,
    onNotice: (channel) => notices.notify(channel),
  })
  // Statements that wait behind no others.
  const ofUrgent = limitStatements(limits, limits.urgentMsMax)
  const urgent = new PostgresWriter({
    pool: new PostgresPool(toClient(1, false, ofUrgent), { graceMs: 0 }),
    connectionsMax: 1,
    watchdog,
    limits: ofUrgent,
    onNotice() {},
  })
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

/** Limits with which a statement, and each wait for it, takes at most this long. */
function limitStatements(limits: PostgresLimits, msMax: number): PostgresLimits {
  return {
    ...limits,
    waitMsMax: Math.min(limits.waitMsMax, msMax),
    statementMsMax: Math.min(limits.statementMsMax, msMax),
    lockMsMax: Math.min(limits.lockMsMax, msMax),
  }
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
