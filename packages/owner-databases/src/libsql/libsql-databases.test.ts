import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Refused } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import { libsqlBackoff } from "../database-limits.ts"
import { createLibsqlRegistry, toNamespace } from "../libsql-protocol/libsql-registry.ts"
import { createLibsqlServer } from "../libsql-protocol/libsql-server.ts"
import { openLibsql } from "../testing/database-homes.ts"
import {
  type TestOwner,
  theirRows,
  theirTable,
  useTheirTable,
} from "../testing/database-testing.ts"
import { hasLibsql, type LibsqlProcess, startLibsql } from "../testing/libsql-process.ts"

const endless =
  "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c"

describe.if(hasLibsql("LibsqlDatabases"))("LibsqlDatabases", () => {
  let server: LibsqlProcess
  beforeAll(async () => {
    server = await startLibsql()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test("gives each owner a separate database, and refuses an id that is none", async () => {
    await using databases = await openLibsql(server)
    const [ada, bob] = [databases.owner(), databases.owner()]
    await ada.execute("create table t (a)")
    expect(await bob.execute("select * from t")).toMatchObject({
      kind: "failed",
      message: "no such table: t",
    })
    for (const id of ["../hamlet", "", "hamlet", "x".repeat(36)])
      for (const owner of [databases.owner(id), databases.owner(undefined, id)])
        await expect(owner.execute("select 1")).rejects.toThrow("this is not an id")
  })

  test("lets nodes share a database, and each sees the other's rows and tables", async () => {
    await using one = await openLibsql(server)
    await using other = await openLibsql(server)
    const here = one.owner()
    const there = other.owner(here.id)
    await here.execute("create table t (a)")
    const write = (owner: TestOwner, from: number) =>
      Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          owner.execute("insert into t values (?)", [from + index]),
        ),
      )
    const results = (await Promise.all([write(here, 0), write(there, 100)])).flat()
    expect(results.filter((result) => !("rowsAffected" in result))).toEqual([])
    expect(await here.rows("select count(*) from t")).toEqual([[40]])
    expect(await here.execute("select * from t limit 1")).toMatchObject({ columns: ["a"] })
    await there.execute("alter table t add column b")
    expect(await here.execute("select * from t limit 1")).toMatchObject({ columns: ["a", "b"] })
    await there.execute("create table later (a)")
    expect(await here.rows("select * from later")).toEqual([])
    await there.execute("drop table t")
    expect(await here.execute("select * from t")).toMatchObject({ message: "no such table: t" })
  })

  test("leaves a table of the user alone that has the name of ours", async () => {
    await using databases = await openLibsql(server)
    const owner = databases.owner()
    await owner.rows("select 1")
    const statements = theirTable.map((sql) => ({ sql }))
    const namespace = toNamespace({ ownerId: owner.id })
    await createLibsqlServer(server.options).execute(namespace, statements)
    expect(await useTheirTable(owner)).toEqual(theirRows)
  })

  // `fsdir` is a table of the server's files, and `readfile` reads one.
  test("never sends a statement that was compiled with other tables", async () => {
    await using one = await openLibsql(server)
    await using other = await openLibsql(server)
    const here = one.owner()
    const there = other.owner(here.id)
    const list = "select name from fsdir where path = '/etc'"
    const refused = { kind: "failed", message: "no such table: fsdir" }
    await here.execute("create table fsdir (path, name)")
    expect(await here.rows(list)).toEqual([])
    expect(await there.rows(list)).toEqual([])
    await there.execute("drop table fsdir")
    expect(await here.execute(list)).toMatchObject(refused)
    // Within a batch, and after one that has failed.
    const create = "create table fsdir (path, name)"
    expect(await here.batch([create, list, "insert into missing values (1)"])).toMatchObject({
      index: 2,
    })
    expect(await here.batch([create, list, "select abs(-9223372036854775808)"])).toMatchObject({
      index: 2,
    })
    expect(await here.execute(list)).toMatchObject(refused)
    await here.execute(create)
    expect(await here.rows(list)).toEqual([])
    expect(await here.batch(["drop table fsdir", list])).toMatchObject({ ...refused, index: 1 })
    await here.execute("drop table fsdir")
    for (const sql of [
      "create view v as select * from fsdir where path = '/etc'",
      "create table t (a default (readfile('/etc/passwd')))",
      "create trigger tr after insert on u begin select readfile('/etc/passwd'); end",
    ])
      await here.batch(["create table if not exists u (a)", sql])
    for (const sql of [
      "select * from v",
      "insert into t default values returning a",
      "insert into u values (1)",
      "select 1 \0 union select readfile('/etc/passwd')",
      "select 1 /* \0 */ union select readfile('/etc/passwd')",
    ])
      expect([sql, await here.execute(sql)]).toMatchObject([sql, { kind: "failed" }])
  })

  test("never takes a new database for one that was removed", async () => {
    // Without connections that are kept, which would still see the old one.
    const options = { limits: { streamMsMax: 0 } }
    await using one = await openLibsql(server, options)
    await using other = await openLibsql(server, options)
    const here = one.owner()
    const there = other.owner(here.id)
    const list = "select name from fsdir where path = '/etc'"
    await here.execute("create table fsdir (path, name)")
    for (let count = 0; count < 2; count++) expect(await there.rows(list)).toEqual([])
    await one.pool.remove({ ownerId: here.id })
    await here.rows("select 1")
    expect(await here.execute("create table t (a)")).toMatchObject({ rowsAffected: 0 })
    const refused = { kind: "failed", message: "no such table: fsdir" }
    expect(await there.execute(list)).toMatchObject(refused)
  })

  test.each([
    ["a node that has read it", "select * from t", 3_000],
    ["a node that has written to it", "insert into t values (1)", 3_000],
    ["a node without connections that are kept", "select * from t", 0],
  ])(
    "creates a removed database again with the first write of %s",
    async (_, first, streamMsMax) => {
      await using one = await openLibsql(server, { limits: { streamMsMax } })
      await using other = await openLibsql(server, { limits: { streamMsMax } })
      const here = one.owner()
      const there = other.owner(here.id)
      for (const next of [there, here]) {
        await here.execute("create table if not exists t (a)")
        for (let count = 0; count < 3; count++)
          for (const owner of [here, there])
            expect(await owner.execute(first)).toMatchObject({ columns: expect.any(Array) })
        await one.pool.remove({ ownerId: here.id })
        const create = ["create table if not exists t (a)", "insert into t values (2)"]
        expect(await next.batch(create)).toMatchObject([{}, { rowsAffected: 1 }])
        // Not there if it was created here: its connections still have the removed one.
        expect(await here.rows("select a from t")).toEqual([[2]])
      }
    },
  )

  test("uses no connection for long that has a database which was removed and created again", async () => {
    await using one = await openLibsql(server)
    await using other = await openLibsql(server, { limits: { streamMsMax: 300 } })
    const here = one.owner()
    const there = other.owner(here.id)
    const insert = () => there.execute("insert into t values (1)")
    await here.execute("create table t (a)")
    for (let count = 0; count < 3; count++) await insert()
    await one.pool.remove({ ownerId: here.id })
    await here.execute("create table t (a)")
    await waitUntil(async () => {
      expect(await insert()).toMatchObject({ rowsAffected: 1 })
      return (await here.rows("select * from t")).length > 0
    })
  })

  test("counts all databases of a user in its limit, which may change", async () => {
    await using databases = await openLibsql(server, {
      bytesMax: 3_000_000,
      limits: { databasesMax: 2 },
    })
    const own = databases.owner()
    const vals = [1, 2, 3].map(() => databases.owner(own.id, Bun.randomUUIDv7()))
    const [val = own, second = own, third = own] = vals
    for (const owner of [own, val, second]) await owner.execute("create table t (a)")
    expect(await third.execute("select 1")).toEqual({
      kind: "full",
      message: "your vals have 2 databases already",
    })
    const fill = "insert into t values (zeroblob(2000000))"
    expect(await val.execute(fill)).toMatchObject({ rowsAffected: 1 })
    expect(await own.execute(fill)).toEqual({
      kind: "full",
      message: "your databases would have more than 3000000 bytes in total",
    })
    expect(await own.execute("insert into t values (1) returning a")).toMatchObject({ rows: [[1]] })
    const more = { mode: "single", canWrite: true, bytesMax: 9_000_000 } as const
    const statements = [{ sql: fill, args: [] }]
    expect(await own.run({ ...more, statements })).toMatchObject({ kind: "done" })
    expect(await databases.pool.sizeOf(own.id)).toBeGreaterThan(4_000_000)
    // Above a limit that was lowered, rows may still be changed and deleted.
    const less = { ...more, bytesMax: 10_000 }
    const remove = [{ sql: "delete from t", args: [] }]
    expect(await own.run({ ...less, statements })).toMatchObject({ kind: "full" })
    expect(await own.run({ ...less, statements: remove })).toMatchObject({ kind: "done" })
    // Another node, which knows nothing of this one, counts the same.
    await databases.pool.stop()
    await using other = await openLibsql(server, { bytesMax: 3_000_000 })
    expect(await other.pool.sizeOf(own.id)).toBeGreaterThan(4_000_000)
    expect(await other.owner(own.id, second.valId).execute(fill)).toMatchObject({ kind: "full" })
  })

  test("remove deletes the namespaces of a val or of a user", async () => {
    await using databases = await openLibsql(server)
    const admin = createLibsqlServer(server.options)
    const own = databases.owner()
    const val = databases.owner(own.id, Bun.randomUUIDv7())
    const other = databases.owner(own.id, Bun.randomUUIDv7())
    const homes = [own, val, other].map(({ id, valId }) =>
      valId === undefined ? { ownerId: id } : { ownerId: id, valId },
    )
    const present = () => Promise.all(homes.map((home) => admin.hasNamespace(toNamespace(home))))
    for (const owner of [own, val, other]) await owner.execute("create table t (a)")
    expect(await present()).toEqual([true, true, true])
    await databases.pool.remove({ ownerId: own.id, valId: val.valId ?? "" })
    expect(await present()).toEqual([true, false, true])
    await databases.pool.remove({ ownerId: own.id })
    expect(await present()).toEqual([false, false, false])
    expect(await createLibsqlRegistry(admin).listOf(own.id)).toEqual([])
    expect(await databases.pool.sizeOf(own.id)).toBe(0)
    // A request that began before starts with an empty database.
    expect(await own.execute("select * from t")).toMatchObject({ message: "no such table: t" })
    await databases.pool.remove({ ownerId: own.id })
  })

  test("interrupts a statement that takes too long, and delays no other owner", async () => {
    await using databases = await openLibsql(server, {
      msMax: 2_000,
      limits: { atOncePerOwnerMax: 1 },
    })
    const [ada, bob] = [databases.owner(), databases.owner()]
    await ada.execute("create table t (a)")
    await bob.execute("create table t (a)")
    const slow = ada.batch(["insert into t values (1)", endless])
    const waiting = ada.execute("insert into t values (2)")
    for (let count = 0; count < 5; count++)
      expect(await bob.execute("insert into t values (?)", [count])).toMatchObject({
        rowsAffected: 1,
      })
    expect(await slow).toEqual({ kind: "failed", message: "interrupted: it took longer than 2 s" })
    expect(await waiting).toMatchObject({ rowsAffected: 1 })
    expect(await ada.rows("select a from t")).toEqual([[2]])
  })

  test("takes a thousand statements, and refuses requests beyond the limits of the queue", async () => {
    await using databases = await openLibsql(server, {
      limits: { waitingPerKeyMax: 3, atOncePerOwnerMax: 1 },
    })
    const owner = databases.owner()
    await owner.execute("create table t (a)")
    const many = Array.from({ length: 1_000 }, (_, index) => ({
      sql: "insert into t values (?)",
      args: [index],
    }))
    expect(await owner.batch(many)).toHaveLength(1_000)
    expect(await owner.rows("select count(*), sum(a) from t")).toEqual([[1_000, 499_500]])
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => owner.execute("select 1")))
    const refused = outcomes.filter((outcome) => "kind" in outcome && outcome.kind === "overloaded")
    expect(refused.length).toBe(6)
    const large = "with recursive c(x) as (select 1 union all select x + 1 from c) select x from c"
    expect(await owner.execute(large)).toMatchObject({
      message: "the result is larger than 8388608 bytes",
    })
  })

  test("stop waits for running requests up to its limit, and starts no others", async () => {
    const databases = await openLibsql(server, { limits: { endMsMax: 50, atOncePerOwnerMax: 1 } })
    const owner = databases.owner()
    await owner.execute("create table t (a)")
    const outcomes = Promise.all([
      owner.execute(endless),
      owner.execute("insert into t values (1)"),
    ])
    await databases.pool.stop()
    const ending = { kind: "unavailable", message: "the server is about to end" } as const
    expect(await outcomes).toEqual([
      { kind: "failed", message: "interrupted: the server is about to end" },
      ending,
    ])
    expect(await owner.execute("select 1")).toEqual(ending)
  })
})

describe.if(hasLibsql("LibsqlDatabases"))("LibsqlDatabases and a server that ends", () => {
  test("loses nothing that was acknowledged, says so meanwhile, and goes on after it", async () => {
    await using server = await startLibsql()
    await using databases = await openLibsql(server, {
      limits: { backoff: { ...libsqlBackoff, attemptsMax: 1 } },
    })
    const owner = databases.owner()
    await owner.execute("create table t (a)")
    const acknowledged: number[] = []
    let isOver = false
    const writing = (async () => {
      for (let number = 0; !isOver; number++) {
        const outcome = await owner.execute("insert into t values (?)", [number])
        if ("rowsAffected" in outcome) acknowledged.push(number)
        else expect(outcome).toMatchObject({ kind: "unavailable" })
      }
    })()
    for (let round = 1; round <= 2; round++) {
      await waitUntil(() => acknowledged.length >= round * 20)
      await server.kill()
      await server.start()
    }
    await waitUntil(() => acknowledged.length >= 60)
    isOver = true
    await writing
    const rows = new Set((await owner.rows("select a from t")).flat())
    expect(acknowledged.filter((number) => !rows.has(number))).toEqual([])
    await server.kill()
    const message = "the libSQL server cannot be reached"
    expect(await owner.execute("select 1")).toEqual({ kind: "unavailable", message })
    for (const act of [
      () => databases.pool.sizeOf(owner.id),
      () => databases.pool.remove({ ownerId: owner.id }),
    ]) {
      const error = await act().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Refused)
      expect(error).toMatchObject({ code: "database_unavailable" })
    }
    await server.start()
    expect(await owner.rows("select count(*) from t")).toEqual([[rows.size]])
  })

  test("refuses a wrong key without repeating it", async () => {
    await using server = await startLibsql()
    const adminKey = "albatross"
    await using databases = await openLibsql({
      ...server,
      options: { ...server.options, adminKey },
    })
    const outcome = await databases.owner().execute("select 1")
    expect(outcome).toEqual({
      kind: "unavailable",
      message: "the libSQL server refuses the key of its admin API",
    })
  })
})
