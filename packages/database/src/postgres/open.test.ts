import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { SQL } from "bun"
import { type Database, rows, type Script } from "../database.ts"
import { ConstraintError } from "../errors.ts"
import { migrate } from "../migrations/migrate.ts"
import { raw, sql } from "../sql.ts"
import { databases } from "../testing/empty-databases.ts"
import { openAgain, type TestDatabase } from "../testing/test-databases.ts"
import { assertSuitable, openPostgres } from "./open.ts"

const server = databases.find(({ name }) => name === "PostgreSQL")

if (server === undefined) notRun("openPostgres", "HAMLET_TEST_POSTGRES_URL is not set")
else
  describe("openPostgres", () => {
    let database: TestDatabase
    let db: Database
    let outsider: SQL
    let others: Database[]

    beforeEach(async () => {
      database = await server.open()
      db = database.db
      others = []
      outsider = new SQL(database.url ?? "", { max: 1 })
      await db.write(function* () {
        yield raw("create table items (name text primary key, count integer not null default 0)")
        yield raw("insert into items (name) values ('a'), ('b')")
      })
    })

    afterEach(async () => {
      await Promise.all(others.map((other) => other.stop()))
      await outsider.close()
      await database.close()
    })

    async function openWith(options: Parameters<typeof openPostgres>[1]): Promise<Database> {
      const other = await openPostgres(database.url ?? "", options)
      others.push(other)
      return other
    }

    const increment = (name: string) => sql`update items set count = count + 1 where name = ${name}`
    const counts = () => db.read(sql`select name, count from items order by name`)

    /** Resolves once this many backends wait for a lock. */
    async function areWaiting(backends: number): Promise<void> {
      const query =
        "select distinct pid from pg_locks where not granted and pid in (select pid from pg_stat_activity where datname = current_database())"
      await waitUntil(async () => {
        // In a transaction, the list of backends is otherwise that of the first time.
        await outsider.unsafe("select pg_stat_clear_snapshot()")
        return (await outsider.unsafe<unknown[]>(query)).length >= backends
      })
    }

    test("runs an urgent statement while all other connections are busy", async () => {
      // Longer than a busy machine takes: the others end only when the test lets them.
      const waitsMax = { lockMsMax: 50_000, statementMsMax: 50_000, urgentMsMax: 50_000 }
      const busy = await openWith({ connectionsMax: 3, ...waitsMax })
      await outsider.unsafe("select pg_advisory_lock(1)")
      const wait = sql`select pg_advisory_xact_lock(1)`
      let ended = 0
      const others = [busy.read(wait), busy.writeOne(wait), busy.writeOne(wait)].map((other) =>
        other.then(() => {
          ended += 1
        }),
      )
      // One connection reads, one writes.
      await areWaiting(2)
      expect(await busy.runUrgent(sql`${increment("a")} returning count`)).toEqual([{ count: 1 }])
      expect(ended).toBe(0)
      await outsider.unsafe("select pg_advisory_unlock(1)")
      await Promise.all(others)
    })

    test("gives an urgent statement little time", async () => {
      const busy = await openWith({ urgentMsMax: 50 })
      await expect(busy.runUrgent(sql`select pg_sleep(10)`)).rejects.toMatchObject({
        code: "database_unavailable",
      })
    })

    test("sets the parameters of its connections", async () => {
      const settings = sql`
        select current_setting('application_name') as name,
          current_setting('synchronous_commit') as synchronous,
          current_setting('statement_timeout') as statement,
          current_setting('lock_timeout') as lock,
          current_setting('idle_in_transaction_session_timeout') as idle,
          current_setting('timezone') as timezone,
          current_setting('transaction_isolation') as isolation,
          current_setting('transaction_read_only') as readonly`
      const shared = {
        name: "hamlet",
        synchronous: "on",
        statement: "10s",
        lock: "5s",
        idle: "3s",
        timezone: "UTC",
        isolation: "read committed",
      }

      expect(await db.write(() => rows(settings))).toEqual([{ ...shared, readonly: "off" }])
      expect(await db.read(settings)).toEqual([{ ...shared, readonly: "on" }])
    })

    test("gives a patient script a time limit of a day", async () => {
      const setting = sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`

      expect(await db.write(() => rows(setting), { isPatient: true })).toEqual([
        { statement: "1d", lock: "1d" },
      ])
      expect(await db.write(() => rows(setting))).toEqual([{ statement: "10s", lock: "5s" }])
    })

    test("repeats a script that lost a deadlock", async () => {
      let attempts = 0
      const both = (mine: number, first: string, second: string) => {
        let isRepeated = false
        return function* (): Script<void> {
          attempts += 1
          yield increment(first)
          yield sql`select pg_advisory_xact_lock(${mine})`
          // Neither continues before the other has its first row too. In a repetition the other may
          // be done.
          const isOtherReady = sql`select 1 from pg_locks where locktype = 'advisory' and granted and objid = ${3 - mine}
            and database = (select oid from pg_database where datname = current_database())`
          while (!isRepeated && (yield* rows(isOtherReady)).length === 0);
          isRepeated = true
          yield increment(second)
        }
      }

      await Promise.all([db.write(both(1, "a", "b")), db.write(both(2, "b", "a"))])

      // The repeated script may be faster than the other one continues, and conflict with it again.
      expect(attempts).toBeGreaterThanOrEqual(3)
      expect(await counts()).toEqual([
        { name: "a", count: 2 },
        { name: "b", count: 2 },
      ])
    })

    test("stops repeating a script after the maximum of attempts", async () => {
      const other = await openWith({ attemptsMax: 3 })
      let attempts = 0

      const written = other.write(function* () {
        attempts += 1
        yield raw(
          "do $$ begin raise exception 'again' using errcode = 'serialization_failure'; end $$",
        )
      })

      await expect(written).rejects.toMatchObject({ code: "database_unavailable" })
      expect(attempts).toBe(3)
    })

    test("waits for a result only where the script reads it", async () => {
      const patient = await openWith({ lockMsMax: 60_000, statementMsMax: 60_000 })
      const holder = await outsider.reserve()
      await holder.unsafe("select pg_advisory_lock(7)")
      const sent = Promise.withResolvers<void>()

      const written = patient.write(function* () {
        yield sql`select pg_advisory_xact_lock(7)`
        yield increment("a")
        sent.resolve()
      })

      // The first statement ends only when the lock is free.
      await sent.promise
      await holder.unsafe("select pg_advisory_unlock(7)")
      holder.release()
      await written
      expect(await counts()).toContainEqual({ name: "a", count: 1 })
    })

    test("throws the first error of statements that were sent together, and commits none", async () => {
      const insert = sql`insert into items (name, count) values (${"a"}, ${0})`

      const written = db.write(function* () {
        yield increment("b")
        yield insert
        yield raw("select from nowhere")
      })

      await expect(written).rejects.toMatchObject({ kind: "unique" })
      expect(await counts()).toContainEqual({ name: "b", count: 0 })
    })

    test("repeats a script whose connection broke before the commit", async () => {
      let attempts = 0

      await db.write(function* () {
        attempts += 1
        yield increment("a")
        if (attempts === 1) yield sql`select pg_terminate_backend(pg_backend_pid())`
      })

      expect(attempts).toBe(2)
      expect(await counts()).toContainEqual({ name: "a", count: 1 })
    })

    test("stops repeating a script that breaks its connection every time", async () => {
      const other = await openWith({ attemptsMax: 3 })
      let attempts = 0

      const written = other.write(function* () {
        attempts += 1
        yield sql`select pg_terminate_backend(pg_backend_pid())`
      })

      await expect(written).rejects.toMatchObject({ code: "database_unavailable" })
      expect(attempts).toBe(3)
    })

    test("never repeats a script whose connection broke during the commit", async () => {
      await outsider.unsafe(`
        create function hang_up() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
        create constraint trigger hangs_up after update on items deferrable initially deferred for each row execute function hang_up()`)
      let attempts = 0

      const written = db.write(function* () {
        attempts += 1
        yield increment("a")
      })

      await expect(written).rejects.toMatchObject({
        code: "database_unavailable",
        message: expect.stringContaining("during a commit"),
      })
      expect(attempts).toBe(1)
    })

    test("keeps the connection of a script that failed", async () => {
      const other = await openWith({ connectionsMax: 2 })
      const process = () => rows<{ pid: number }>(sql`select pg_backend_pid() as pid`)
      const before = await other.write(process)

      const failures = await Promise.allSettled([
        other.write(() => rows(sql`insert into items (name) values ('a')`)),
        other.write(function* () {
          yield increment("a")
          throw new Error("changed my mind")
        }),
      ])

      expect(failures.map(({ status }) => status)).toEqual(["rejected", "rejected"])
      expect(await other.write(process)).toEqual(before)
    })

    test("migrates in turn with other nodes", async () => {
      await outsider.unsafe(`begin; ${db.dialect.migrationLock.map(({ text }) => text).join(";")}`)
      const migrated = migrate(db, [])
      await areWaiting(1)

      expect(await db.read(sql`select to_regclass('schema_migrations') as found`)).toEqual([
        { found: null },
      ])
      await outsider.unsafe("commit")
      expect(await migrated).toEqual({ from: 0, to: 0 })
    })

    test("rejects with the error of a commit", async () => {
      await outsider.unsafe(
        "alter table items add column parent text references items deferrable initially deferred",
      )

      const written = db.write(() =>
        rows(sql`insert into items (name, parent) values ('c', 'nobody')`),
      )

      await expect(written).rejects.toBeInstanceOf(ConstraintError)
    })

    test("retries a read when its connection breaks", async () => {
      await outsider.unsafe("begin; lock table items")
      const read = counts()
      await areWaiting(1)

      await outsider.unsafe(
        "select pg_terminate_backend(pid) from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())",
      )
      await outsider.unsafe("commit")

      expect(await read).toHaveLength(2)
    })

    test("stops retrying a read that breaks its connection every time", async () => {
      await expect(
        db.read(sql`select pg_terminate_backend(pg_backend_pid())`),
      ).rejects.toMatchObject({ code: "database_unavailable" })
    })

    test("continues after the server has closed all connections", async () => {
      await outsider.unsafe(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'hamlet' and datname = current_database()",
      )

      const found = await Promise.all([
        db.read(sql`select 1 as n`),
        db.write(() => rows(sql`select 2 as n`)),
        db.ping(),
      ])

      expect(found.slice(0, 2)).toEqual([[{ n: 1 }], [{ n: 2 }]])
    })

    test("keeps reading while every writer waits for a lock", async () => {
      // Longer than a busy machine takes until all of them wait.
      const waitsMax = { lockMsMax: 50_000, statementMsMax: 50_000, waitMsMax: 50_000 }
      const other = await openWith({ connectionsMax: 5, ...waitsMax })
      await outsider.unsafe("begin; update items set count = 5")
      const writes = Array.from({ length: 8 }, () => other.write(() => rows(increment("a"))))
      await areWaiting(3)

      const found = await other.read(sql`select name, count from items order by name`)
      expect(found).toContainEqual({ name: "a", count: 0 })
      expect(other.stats()).toMatchObject({ inUse: 3, waiting: 5 })
      await outsider.unsafe("commit")
      await Promise.all(writes)
      expect(await counts()).toContainEqual({ name: "a", count: 13 })
    })

    test("gives up waiting for a connection", async () => {
      // The script that has the connection always waits longer than the one that waits for it.
      const other = await openWith({
        connectionsMax: 2,
        waitMsMax: 2_000,
        lockMsMax: 25_000,
        statementMsMax: 25_000,
      })
      await outsider.unsafe("begin; update items set count = 5")
      const first = other.write(() => rows(increment("a")))
      await areWaiting(1)

      await expect(other.write(() => rows(increment("b")))).rejects.toMatchObject({
        code: "database_unavailable",
        message: "Cannot use the database: all connections are in use",
      })
      await outsider.unsafe("rollback")
      await first
    })

    test.each([
      ["lock", { lockMsMax: 20 }],
      ["statement", { statementMsMax: 2_500 }],
    ])("gives up when a %s takes too long, and keeps the connection usable", async (_, limits) => {
      const other = await openWith({ connectionsMax: 2, ...limits })
      await outsider.unsafe("begin; update items set count = 5")

      await expect(other.write(() => rows(increment("a")))).rejects.toMatchObject({
        code: "database_unavailable",
      })
      await outsider.unsafe("rollback")

      await other.write(() => rows(increment("a")))
      expect(await counts()).toContainEqual({ name: "a", count: 1 })
    })

    test.each([
      ["readsMax", (other: Database) => other.read(sql`select 1`)],
      ["writesMax", (other: Database) => other.write(() => rows(sql`select 1`))],
    ] as const)("refuses more than %s at a time", async (limit, request) => {
      const other = await openWith({ [limit]: 2 })

      const outcomes = await Promise.allSettled([1, 2, 3].map(() => request(other)))

      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"])
    })

    test("uses the database of the address, not of the environment", async () => {
      process.env.PGDATABASE = "nowhere"
      try {
        await (await openAgain(database)).stop()
      } finally {
        delete process.env.PGDATABASE
      }
    })
  })

describe("openPostgres, without a server,", () => {
  test.each([
    [
      "PostgreSQL 14 or newer is required, but the server is 13.4",
      { number: "130004", version: "13.4", encoding: "UTF8" },
    ],
    [
      "its encoding must be UTF8, but is LATIN1",
      { number: "150000", version: "15.0", encoding: "LATIN1" },
    ],
  ])("refuses a server: %s", async (problem, settings) => {
    const answers = async <Row>() => [settings as Row]

    await expect(assertSuitable(answers)).rejects.toMatchObject({
      code: "database_unavailable",
      message: `Cannot use the database: ${problem}`,
    })
  })

  test.each(["not an address", "mysql://root:hunter2@localhost/x", "https://localhost"])(
    "refuses the address %s, without repeating it",
    async (address) => {
      await expect(openPostgres(address)).rejects.toMatchObject({
        code: "database_unavailable",
        message:
          "Cannot use the database: its address is not of the form postgres://user@host/name",
      })
    },
  )
})
