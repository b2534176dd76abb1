import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { type Database, rows } from "../database.ts"
import { raw, sql } from "../sql.ts"
import { PrivatePostgres } from "../testing/private-postgres.ts"
import { SilentProxy } from "../testing/silent-proxy.ts"
import { openPostgres } from "./open.ts"

const binaries = process.env.HAMLET_TEST_POSTGRES_BIN
const startMsMax = 60_000
const unavailable = { code: "database_unavailable" }

const increment = () => rows(sql`update counters set n = n + 1`)
const count = async (db: Database) =>
  (await db.read<{ n: number }>(sql`select n from counters`))[0]?.n

if (binaries === undefined)
  notRun("openPostgres, when the server goes away,", "HAMLET_TEST_POSTGRES_BIN is not set")
else
  describe("openPostgres, when the server goes away,", () => {
    let server: PrivatePostgres
    let db: Database

    beforeAll(async () => {
      server = await PrivatePostgres.create(binaries)
    }, startMsMax)

    afterAll(async () => {
      await server.remove()
    }, startMsMax)

    beforeEach(async () => {
      db = await openPostgres(server.url)
      await db.write(function* () {
        yield raw("drop table if exists counters")
        yield raw("create table counters (n integer not null)")
        yield raw("insert into counters values (0)")
      })
    })

    afterEach(async () => {
      await db.stop()
    })

    test.each(["fast", "immediate"] as const)(
      "reconnects after a restart (%s)",
      async (mode) => {
        await Promise.all(Array.from({ length: 20 }, () => db.write(increment)))
        await server.stop(mode)
        await server.start()

        await Promise.all(Array.from({ length: 20 }, () => db.write(increment)))

        expect(await count(db)).toBe(40)
      },
      startMsMax,
    )

    test(
      "fails while the server is down, and recovers when it is back",
      async () => {
        await server.stop("fast")

        await expect(db.read(sql`select 1`)).rejects.toMatchObject(unavailable)
        await expect(db.write(increment)).rejects.toMatchObject(unavailable)
        await expect(db.ping()).rejects.toMatchObject(unavailable)
        await expect(openPostgres(server.url)).rejects.toMatchObject(unavailable)
        await server.start()

        await db.write(increment)
        expect(await count(db)).toBe(1)
      },
      startMsMax,
    )

    test(
      "fails while the server accepts no connections to the database, and recovers afterwards",
      async () => {
        const allow = (isAllowed: boolean) =>
          admin.write(function* () {
            yield raw(`alter database postgres allow_connections ${isAllowed}`)
            yield raw(
              "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'postgres'",
            )
          })
        const admin = await openPostgres(
          Object.assign(new URL(server.url), { pathname: "/template1" }).href,
        )
        await allow(false)

        await expect(db.read(sql`select 1`)).rejects.toMatchObject(unavailable)
        await expect(db.write(increment)).rejects.toMatchObject(unavailable)
        await expect(db.runUrgent(sql`select 1`)).rejects.toMatchObject(unavailable)
        await allow(true)

        await db.write(increment)
        expect(await count(db)).toBe(1)
        await admin.stop()
      },
      startMsMax,
    )

    test(
      "loses no acknowledged write, and settles every promise, when the server crashes under load",
      async () => {
        let acknowledged = 0
        let isDown = false
        const writers = Array.from({ length: 8 }, async () => {
          while (!isDown) {
            const isKept = await db.write(increment).then(
              () => true,
              () => false,
            )
            if (isKept) acknowledged += 1
          }
        })
        await waitUntil(() => acknowledged >= 50)
        await server.stop("immediate")
        isDown = true
        await Promise.all(writers)
        await server.start()

        const kept = await count(db)

        // A commit whose result was lost may have happened: at most one for each connection that was
        // writing.
        expect(kept).toBeGreaterThanOrEqual(acknowledged)
        expect(kept).toBeLessThanOrEqual(acknowledged + 8)
      },
      startMsMax,
    )

    test(
      "replaces the connections of a server that no longer responds",
      async () => {
        const proxy = new SilentProxy(server.socket)
        const limits = {
          connectionsMax: 4,
          waitMsMax: 15_000,
          statementMsMax: 4_000,
          silenceMsMax: 2_000,
        }
        const distant = await openPostgres(
          `postgres://postgres@127.0.0.1:${proxy.port}/postgres`,
          limits,
        )
        await Promise.all([distant.write(increment), count(distant)])

        proxy.silence()
        const outcomes = await Promise.allSettled([
          distant.write(increment),
          distant.read(sql`select 1`),
          distant.ping(),
        ])

        for (const outcome of outcomes)
          expect(outcome).toMatchObject({ status: "rejected", reason: unavailable })
        await distant.write(increment)
        expect(await count(distant)).toBe(2)
        await distant.stop()
        proxy.stop()
      },
      startMsMax,
    )

    test(
      "takes the locks of a client that is cut off, before those that wait for them give up",
      async () => {
        const proxy = new SilentProxy(server.socket)
        const distant = await openPostgres(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`, {
          connectionsMax: 4,
          statementMsMax: 4_000,
        })
        const isLocked = Promise.withResolvers<void>()
        const cutOff = distant.write(function* () {
          yield* increment()
          proxy.silence()
          isLocked.resolve()
          yield* rows(sql`select 1`)
        })
        await isLocked.promise

        await db.write(increment)

        expect(await count(db)).toBe(1)
        await expect(cutOff).rejects.toMatchObject(unavailable)
        await distant.stop()
        proxy.stop()
      },
      startMsMax,
    )
  })

describe("openPostgres, when there is no server,", () => {
  test("reports that no server listens", async () => {
    const listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: () => undefined },
    })
    const { port } = listener
    listener.stop(true)

    await expect(
      openPostgres(`postgres://postgres@127.0.0.1:${port}/postgres`),
    ).rejects.toMatchObject(unavailable)
  })

  test("gives up on a server that accepts connections and never responds", async () => {
    const listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: () => undefined },
    })

    const opened = openPostgres(`postgres://postgres@127.0.0.1:${listener.port}/postgres`, {
      connectMsMax: 100,
    })

    await expect(opened).rejects.toMatchObject(unavailable)
    listener.stop(true)
  })
})
