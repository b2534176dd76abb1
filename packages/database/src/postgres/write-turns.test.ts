import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { runWork, Work } from "@hamlet/kit"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { SQL } from "bun"
import type { Database, WriteOptions } from "../database.ts"
import { raw, sql } from "../sql.ts"
import { databases } from "../testing/empty-databases.ts"
import type { TestDatabase } from "../testing/test-databases.ts"
import { openPostgres } from "./open.ts"

const server = databases.find(({ name }) => name === "PostgreSQL")

if (server === undefined) notRun("turns of writes", "HAMLET_TEST_POSTGRES_URL is not set")
else
  describe("turns of writes", () => {
    let database: TestDatabase
    let db: Database
    let outsider: SQL

    beforeEach(async () => {
      database = await server.open()
      outsider = new SQL(database.url ?? "", { max: 1 })
      await database.db.write(function* () {
        yield raw("create table items (name text primary key, count integer not null default 0)")
        yield raw("insert into items (name) values ('a'), ('b'), ('c')")
      })
      // Half of them write. A busy machine may take long to get to the end of the test.
      const waits = { lockMsMax: 50_000, statementMsMax: 50_000, waitMsMax: 50_000 }
      db = await openPostgres(database.url ?? "", {
        connectionsMax: 8,
        ownerWritesMax: 5,
        ...waits,
      })
    })

    afterEach(async () => {
      await db.stop()
      await outsider.close()
      await database.close()
    })

    /** Adds one to a row for an owner. */
    const add = (owner: string | undefined, name: string, options?: WriteOptions) => {
      const work = new Work()
      work.owner = owner
      return runWork(work, () =>
        db.write(function* () {
          yield sql`update items set count = count + 1 where name = ${name}`
        }, options),
      )
    }
    const counts = async () => {
      const rows = await db.read<{ count: number }>`select count from items order by name`
      return rows.map(({ count }) => count)
    }
    const lock = (name: string) =>
      outsider.unsafe(`begin; select * from items where name = '${name}' for update`)

    test("no owner gets all connections, however many of its writes wait for a row", async () => {
      await lock("a")
      const blocked = Array.from({ length: 6 }, () => add("ada", "a"))
      await add("bob", "b")
      await add(undefined, "b")
      expect(await counts()).toEqual([0, 2, 0])
      await outsider.unsafe("commit")
      await Promise.all(blocked)
      expect(await counts()).toEqual([6, 2, 0])
    })

    test("writes of one val have one connection together, whoever sends them", async () => {
      await lock("a")
      const owners = ["ada", "bob", "cy", "dan", "eve", "fay"]
      const blocked = owners.map((owner) => add(owner, "a", { inTurnOf: "a" }))
      await waitUntil(() => db.stats().waiting === owners.length - 1)
      for (const owner of owners) await add(owner, "b")
      expect([db.stats().inUse, await counts()]).toEqual([1, [0, owners.length, 0]])
      await outsider.unsafe("commit")
      await Promise.all(blocked)
      expect(await counts()).toEqual([owners.length, owners.length, 0])
    })

    test("more writes of one owner than may wait are refused, and none of others", async () => {
      await lock("a")
      const outcomes = Promise.allSettled(Array.from({ length: 20 }, () => add("ada", "a")))
      await add("bob", "c")
      await outsider.unsafe("commit")
      const refused = (await outcomes).filter(({ status }) => status === "rejected")
      expect(refused[0]).toMatchObject({
        reason: {
          code: "rate_limited",
          message: "Cannot write: too many writes of this account are waiting",
        },
      })
      expect(await counts()).toEqual([20 - refused.length, 0, 1])
      // Some have a connection, and five wait.
      expect(refused.length).toBeGreaterThan(10)
    })
  })
