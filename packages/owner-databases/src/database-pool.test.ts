import { describe, expect, test } from "bun:test"
import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { waitUntil } from "@hamlet/kit/testing"
import { toDatabasePath } from "./database-paths.ts"
import {
  openDatabases,
  type TestOwner,
  theirRows,
  theirTable,
  useTheirTable,
} from "./testing/database-testing.ts"

const endless =
  "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c"

describe("DatabasePool", () => {
  test("gives each owner a separate database, in a private folder", async () => {
    await using databases = await openDatabases()
    const [ada, bob] = [databases.owner(), databases.owner()]
    await ada.execute("create table t (a)")
    expect(await bob.execute("select * from t")).toMatchObject({
      kind: "failed",
      message: "no such table: t",
    })
    await bob.execute("create table t (a, b)")
    expect(await ada.rows("select count(*) from pragma_table_info('t')")).toEqual([[1]])
    expect(statSync(databases.folder).mode & 0o777).toBe(0o700)
  })

  test("leaves a table of the user alone that has the name of ours", async () => {
    await using databases = await openDatabases()
    const owner = databases.owner()
    // Creates the folder.
    await databases.owner().rows("select 1")
    const path = toDatabasePath(databases.folder, { ownerId: owner.id })
    const db = new DatabaseSync(path)
    for (const sql of theirTable) db.exec(sql)
    db.close()
    // The processes may belong to another user.
    chmodSync(path, 0o666)
    expect(await useTheirTable(owner)).toEqual(theirRows)
  })

  test("refuses an owner id that is a path", async () => {
    await using databases = await openDatabases()
    for (const id of ["../hamlet", "", "x".repeat(36), `../${"a".repeat(33)}`])
      for (const owner of [databases.owner(id), databases.owner(undefined, id)])
        await expect(owner.execute("select 1")).rejects.toThrow("this is not an id")
  })

  test("gives each val a database, and limits how many are open and how many there are", async () => {
    await using databases = await openDatabases({
      limits: { cachedOwnersMax: 4, databasesMax: 20 },
    })
    const { id } = databases.owner()
    const vals = Array.from({ length: 20 }, () => databases.owner(id, Bun.randomUUIDv7()))
    for (const [index, val] of vals.entries()) {
      await val.execute("create table t (a)")
      await val.execute("insert into t values (?)", [index])
    }
    const [pid = 0, ...others] = databases.pool.pids
    expect(others).toEqual([])
    expect(countOpenDatabases(pid)).toBe(4)
    for (const [index, val] of vals.entries())
      expect(await val.rows("select a from t")).toEqual([[index]])
    const more = databases.owner(id, Bun.randomUUIDv7())
    expect(await more.execute("select 1")).toEqual({
      kind: "full",
      message: "your vals have 20 databases already",
    })
    // Databases of users, and of vals of others, are not affected.
    for (const other of [databases.owner(id), databases.owner(undefined, Bun.randomUUIDv7())])
      expect(await other.rows("select 1")).toEqual([[1]])
    await databases.pool.remove({ ownerId: id, valId: vals[0]?.valId ?? "" })
    expect(await more.rows("select 1")).toEqual([[1]])
  })

  test("counts all databases of a user in its limit", async () => {
    await using databases = await openDatabases({ bytesMax: 3_000_000 })
    const own = databases.owner()
    const val = databases.owner(own.id, Bun.randomUUIDv7())
    for (const owner of [own, val]) await owner.execute("create table t (a)")
    const fill = (owner: TestOwner) => owner.execute("insert into t values (zeroblob(2000000))")
    expect(await fill(val)).toMatchObject({ rowsAffected: 1 })
    expect(await fill(own)).toEqual({
      kind: "full",
      message: "your databases would have more than 3000000 bytes in total",
    })
    expect(await databases.owner().execute("create table t (a)")).toMatchObject({ rows: [] })
    expect(await databases.pool.sizeOf(own.id)).toBeGreaterThan(2_000_000)
    await databases.pool.remove({ ownerId: own.id })
    expect([
      await databases.pool.sizeOf(own.id),
      existsSync(join(databases.folder, own.id)),
    ]).toEqual([0, false])
  })

  test("keeps exactly what was acknowledged when a process is killed in a transaction", async () => {
    await using databases = await openDatabases()
    const owner = databases.owner()
    await owner.execute("create table t (a)")
    for (let round = 0; round < 5; round++) {
      await owner.execute("insert into t values (?)", [round])
      const [pid = 0] = databases.pool.pids
      const lost = owner.batch(["insert into t values (-1)", "delete from t where a >= 0", endless])
      await untilBusy(pid)
      process.kill(pid, "SIGKILL")
      expect(await lost).toEqual({
        kind: "failed",
        message: "interrupted: the process that ran it ended",
      })
      expect(await owner.rows("select a from t order by a")).toEqual(
        Array.from({ length: round + 1 }, (_, index) => [index]),
      )
    }
    expect(await owner.rows("pragma integrity_check")).toEqual([["ok"]])
  })

  // With a second process, the next request of an owner is sent while the first one runs.
  test.each([1, 2])(
    "kills a statement that takes too long, and runs the requests that waited, with up to %d processes",
    async (processesMax) => {
      await using patient = await openDatabases()
      await using databases = await openDatabases({
        folder: patient.folder,
        msMax: 1_000,
        limits: { processesMax },
      })
      const [ada, bob] = [databases.owner(), databases.owner()]
      for (const { id } of [ada, bob]) await patient.owner(id).rows("create table t (a)")
      await patient.pool.stop()
      const slow = ada.batch(["insert into t values (1)", endless])
      const others = [
        ada.execute("insert into t values (2)"),
        bob.execute("insert into t values (3)"),
        ada.execute("insert into t values (4)"),
      ]
      expect(await slow).toEqual({
        kind: "failed",
        message: "interrupted: it took longer than 1 s",
      })
      expect(
        (await Promise.all(others)).map(
          (result) => "rowsAffected" in result && result.rowsAffected,
        ),
      ).toEqual([1, 1, 1])
      expect(await ada.rows("select a from t")).toEqual([[2], [4]])
      expect(await bob.rows("select a from t")).toEqual([[3]])
    },
  )

  test("does not let an endless statement delay other owners while a process is free", async () => {
    await using databases = await openDatabases({ limits: { processesMax: 2 } })
    const [ada, bob] = [databases.owner(), databases.owner()]
    await ada.execute("select 1")
    const [pid = 0] = databases.pool.pids
    const mine = [ada.execute(endless), ada.execute("select 2")]
    await untilBusy(pid)
    for (let count = 0; count < 20; count++)
      expect(await bob.rows("select ?", [count])).toEqual([[count]])
    expect(databases.pool.pids.length).toBe(2)
    process.kill(pid, "SIGKILL")
    expect(await Promise.all(mine)).toMatchObject([{ kind: "failed" }, { rows: [[2]] }])
  })

  test("kills a statement that takes too much memory", async () => {
    await using databases = await openDatabases({ limits: { memoryBytesMax: 150_000_000 } })
    const owner = databases.owner()
    const hungry =
      "with recursive c(x) as (select 1 union all select x + 1 from c limit 100000) select x from c order by randomblob(100000)"
    expect(await owner.execute(hungry)).toEqual({
      kind: "failed",
      message: "interrupted: it took more than 150000000 bytes of memory",
    })
    expect(await owner.rows("select 1")).toEqual([[1]])
  })

  test("replaces a process that keeps too much memory, without losing a request", async () => {
    await using databases = await openDatabases({
      limits: { keptMemoryBytesMax: 1, checkRequests: 3 },
    })
    const owner = databases.owner()
    await owner.execute("create table t (a)")
    const seen = new Set<number>()
    for (let count = 0; count < 12; count++) {
      expect(await owner.execute("insert into t values (?)", [count])).toMatchObject({
        rowsAffected: 1,
      })
      for (const pid of databases.pool.pids) seen.add(pid)
    }
    expect(seen.size).toBeGreaterThan(2)
    // A process that was replaced ends beside the requests to the next one.
    await waitUntil(() =>
      [...seen].every((pid) => isAlive(pid) === databases.pool.pids.includes(pid)),
    )
    expect(await owner.rows("select count(*) from t")).toEqual([[12]])
  })

  test("starts at most processesMax processes, and ends idle ones", async () => {
    await using databases = await openDatabases({ limits: { processesMax: 3, idleMsMax: 50 } })
    const owners = Array.from({ length: 12 }, () => databases.owner())
    const results = await Promise.all(owners.map((owner) => owner.rows("select 1")))
    expect(results.flat(2)).toEqual(owners.map(() => 1))
    expect(databases.pool.pids.length).toBeLessThanOrEqual(3)
    await waitUntil(() => databases.pool.pids.length === 0)
    expect(await owners[0]?.rows("select 2")).toEqual([[2]])
  })

  test("keeps at most cachedOwnersMax databases open, and opens closed ones again", async () => {
    await using databases = await openDatabases({ limits: { processesMax: 1, cachedOwnersMax: 2 } })
    const owners = Array.from({ length: 5 }, () => databases.owner())
    for (const [index, owner] of owners.entries()) {
      await owner.execute("create table t (a)")
      await owner.execute("insert into t values (?)", [index])
    }
    const [pid = 0] = databases.pool.pids
    expect(countOpenDatabases(pid)).toBe(2)
    expect(await Promise.all(owners.map((owner) => owner.rows("select a from t")))).toEqual([
      [[0]],
      [[1]],
      [[2]],
      [[3]],
      [[4]],
    ])
    expect(countOpenDatabases(pid)).toBe(2)
  })

  test("refuses requests beyond the limits of the queue", async () => {
    await using databases = await openDatabases({ limits: { waitingPerKeyMax: 3 } })
    const owner = databases.owner()
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => owner.execute("select 1")))
    const refused = outcomes.filter((outcome) => "kind" in outcome && outcome.kind === "overloaded")
    expect(refused.length).toBe(6)
    expect(await owner.rows("select 1")).toEqual([[1]])
    await using narrow = await openDatabases({
      limits: { processesMax: 1, waitingBytesMax: 100_000 },
    })
    const [ada, bob] = [narrow.owner(), narrow.owner()]
    const large = () => ada.execute("select length(?)", ["x".repeat(60_000)])
    const crowded = await Promise.all([
      bob.execute("select 1"),
      large(),
      large(),
      large(),
      bob.execute("select 1"),
    ])
    expect(crowded.map((outcome) => "kind" in outcome && outcome.kind)).toEqual([
      false,
      false,
      "overloaded",
      "overloaded",
      false,
    ])
    expect(await large()).toMatchObject({ rows: [[60_000]] })
  })

  test("lets owners take turns, however many requests one has", async () => {
    await using databases = await openDatabases({ limits: { processesMax: 1 } })
    const [ada, bob] = [databases.owner(), databases.owner()]
    const order: string[] = []
    const many = Array.from({ length: 50 }, () =>
      ada.execute("select 1").then(() => order.push("ada")),
    )
    await bob.execute("select 1").then(() => order.push("bob"))
    await Promise.all(many)
    expect(order.indexOf("bob")).toBeLessThan(3)
  })

  test("sizeOf returns the size of a database", async () => {
    await using databases = await openDatabases()
    const owner = databases.owner()
    expect(await databases.pool.sizeOf(owner.id)).toBe(0)
    await owner.execute("create table t (a)")
    await owner.execute("insert into t values (zeroblob(1000000))")
    expect(await databases.pool.sizeOf(owner.id)).toBeGreaterThan(1_000_000)
  })

  test("stop waits for running requests up to its limit, starts no others, and leaves no process", async () => {
    const databases = await openDatabases({ limits: { endMsMax: 50 } })
    const owner = databases.owner()
    await owner.execute("create table t (a)")
    const pids = databases.pool.pids
    const outcomes = Promise.all([
      owner.execute(endless),
      owner.execute("insert into t values (1)"),
    ])
    await untilBusy(pids[0] ?? 0)
    await databases[Symbol.asyncDispose]()
    const ending = { kind: "unavailable", message: "the server is about to end" } as const
    expect(await outcomes).toEqual([
      { kind: "failed", message: "interrupted: the process that ran it ended" },
      ending,
    ])
    expect(await owner.execute("select 1")).toEqual(ending)
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow()
  })

  test("reports a folder that cannot be created, and a file that is not a database", async () => {
    await using databases = await openDatabases()
    await using without = await openDatabases({ folder: "/dev/null/sqlite" })
    expect(await without.owner().execute("select 1")).toMatchObject({ kind: "unavailable" })
    const owner = databases.owner()
    await databases.owner().execute("select 1")
    await Bun.write(join(databases.folder, `${owner.id}.db`), "this is no database".repeat(1000))
    expect(await owner.execute("select 1")).toEqual({
      kind: "unavailable",
      message: "file is not a database",
    })
  })
})

describe("The processes of a killed server", () => {
  test.each(["select 1", endless])("end by themselves, also during %s", async (sql) => {
    await using databases = await openDatabases()
    const program = `
      import { DatabasePool } from ${JSON.stringify(join(import.meta.dir, "database-pool.ts"))}
      const pool = new DatabasePool({ folder: ${JSON.stringify(databases.folder)}, bytesMax: 1e7, msMax: 600_000, isShared: false, isolation: "auto", homes: { exists: async () => true } })
      const run = (sql) => pool.run({ ownerId: crypto.randomUUID(), mode: "single", statements: [{ sql, args: [] }], canWrite: true })
      await run("select 1")
      process.stdout.write(String(pool.pids[0]))
      await run(${JSON.stringify(sql)})
      setInterval(() => {}, 1000)`
    const server = Bun.spawn({ cmd: [process.execPath, "-e", program], stdout: "pipe" })
    const { value } = await server.stdout.getReader().read()
    const pid = Number(new TextDecoder().decode(value))
    if (sql === endless) await untilBusy(pid)
    server.kill("SIGKILL")
    await server.exited
    await waitUntil(() => !isAlive(pid))
  })
})

describe("DatabasePool in a shared folder", () => {
  test("lets two pools write to one database, and each sees the other's changes", async () => {
    await using databases = await openDatabases({ isShared: true })
    await using others = await openDatabases({ isShared: true, folder: databases.folder })
    const here = databases.owner()
    const there = others.owner(here.id)
    await here.execute("create table t (a)")
    expect(await there.rows("pragma journal_mode")).toEqual([["delete"]])
    const write = (owner: TestOwner, from: number) =>
      Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          owner.execute("insert into t values (?)", [from + index]),
        ),
      )
    const results = (await Promise.all([write(here, 0), write(there, 100)])).flat()
    expect(results.every((result) => "rowsAffected" in result && result.rowsAffected === 1)).toBe(
      true,
    )
    expect(await here.rows("select count(*) from t")).toEqual([[80]])
    await there.execute("alter table t add column b")
    expect(await here.execute("select * from t limit 1")).toMatchObject({ columns: ["a", "b"] })
  })
})

/** Waits until a process runs on a core: one that waits for a request sleeps. */
async function untilBusy(pid: number): Promise<void> {
  await waitUntil(() => /^State:\s+R/m.test(readFileSync(`/proc/${pid}/status`, "utf8")))
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

function countOpenDatabases(pid: number): number {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).filter((name) => readlinkSync(join(folder, name)).endsWith(".db"))
    .length
}
