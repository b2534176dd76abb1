import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Database } from "../database.ts"
import { raw, sql } from "../sql.ts"
import { databases } from "../testing/empty-databases.ts"
import { openAgain, type TestDatabase } from "../testing/test-databases.ts"
import { createExactCache } from "./exact-cache.ts"

/**
 * The change count is read once per turn of the event loop, so a change is visible in the next
 * turn at the latest.
 */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const keys = ["a", "b", "c"] as const
type Key = (typeof keys)[number]

interface Item {
  readonly key: string
  readonly value: number
}

describe("createExactCache", () => {
  let database: TestDatabase
  let other: Database
  /** The keys that were read from the database. */
  let reads: string[]

  beforeAll(async () => {
    const [sqlite] = databases
    if (!sqlite) throw new Error("there is no database")
    database = await sqlite.open()
    other = await openAgain(database)
    await database.db.write(function* () {
      yield raw("create table items (key text primary key, value integer not null)")
      for (const key of keys) yield sql`insert into items (key, value) values (${key}, 0)`
    })
  })

  afterAll(async () => {
    await other.stop()
    await database.close()
  })

  beforeEach(async () => {
    reads = []
    await database.db.write(function* () {
      yield sql`update items set value = 0`
    })
    await nextTurn()
  })

  async function look(key: string): Promise<Item | undefined> {
    reads.push(key)
    const [row] = await database.db.read<Item>(sql`select key, value from items where key = ${key}`)
    return row
  }

  const createFind = (weightMax = 1000, weigh: (item: Item) => number = () => 1) =>
    createExactCache(database.db, look, { weightMax }, weigh)

  const write = (db: Database, key: string, value: number) =>
    db.write(function* () {
      yield sql`insert into items (key, value) values (${key}, ${value}) on conflict (key) do update set value = excluded.value`
    })

  test("reads once while nothing changes, and returns the same object", async () => {
    const find = createFind()
    const first = await find("a")
    for (let turn = 0; turn < 5; turn++) {
      await nextTurn()
      expect(await find("a")).toBe(first)
    }
    expect(reads).toEqual(["a"])
  })

  test("reads again after any change, also of another row", async () => {
    const find = createFind()
    await find("a")
    await write(database.db, "b", 1)
    await find("a")
    await write(other, "b", 2)
    await nextTurn()
    await find("a")
    expect(reads).toEqual(["a", "a", "a"])
  })

  test("sees a write of the same process once it is acknowledged, even in the same turn", async () => {
    const find = createFind()
    for (let value = 1; value <= 20; value++) {
      const written = write(database.db, "a", value)
      await find("a")
      await written
      expect(await find("a")).toEqual({ key: "a", value })
      if (value % 3 === 0) await nextTurn()
    }
  })

  test("sees a write also where another write of the same turn was refused", async () => {
    const find = createFind()
    const refused = database.db.write(function* () {
      yield sql`insert into items (key, value) values ('x', null)`
    })
    const written = write(database.db, "a", 1)
    await find("a")
    await refused.catch(() => {})
    await find("a")
    await written
    expect(await find("a")).toEqual({ key: "a", value: 1 })
  })

  test("sees the writes of another process", async () => {
    const program = `
      import { Database } from "bun:sqlite"
      const db = new Database(process.argv.at(-1))
      db.run("pragma busy_timeout = 5000")
      for await (const line of console) {
        db.run("update items set value = ? where key = 'a'", [Number(line)])
        console.log(line)
      }`
    const child = Bun.spawn([process.execPath, "-e", program, database.path ?? ""], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    })
    const answers = child.stdout.values()
    const find = createFind()
    for (let value = 1; value <= 20; value++) {
      await find("a")
      child.stdin.write(`${value}\n`)
      await child.stdin.flush()
      await answers.next()
      expect(await find("a")).toEqual({ key: "a", value })
    }
    child.stdin.end()
    expect(await child.exited).toBe(0)
  })

  test("never returns a value older than the last write acknowledged before the call", async () => {
    const key = fc.constantFrom(...keys)
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constantFrom("ask" as const, "ask and wait" as const),
          key,
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constantFrom(
            "write" as const,
            "write and wait" as const,
            "write elsewhere" as const,
          ),
          key,
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("turn" as const), key }) },
    )
    let last = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30 }),
        fc.integer({ min: 0, max: 4 }),
        async (steps, weightMax) => {
          const find = createFind(weightMax)
          const acknowledged = new Map<Key, number>()
          const underWay: Promise<unknown>[] = []
          const ask = async (key: Key) => {
            const floor = acknowledged.get(key) ?? 0
            expect((await find(key))?.value ?? -1).toBeGreaterThanOrEqual(floor)
          }
          const change = async (db: Database, key: Key) => {
            last += 1
            const value = last
            await write(db, key, value)
            // Writes of two connections may be acknowledged in another order than they are committed.
            if (db === other) await nextTurn()
            acknowledged.set(key, value)
          }
          for (const { kind, key } of steps) {
            if (kind === "ask") underWay.push(ask(key))
            if (kind === "ask and wait") await ask(key)
            if (kind === "write") underWay.push(change(database.db, key))
            if (kind === "write and wait") await change(database.db, key)
            if (kind === "turn") await nextTurn()
            if (kind === "write elsewhere") {
              // Not at the same time as our own write: then the order of the two is undefined.
              await Promise.all(underWay.splice(0))
              await change(other, key)
            }
          }
          await Promise.all(underWay)
          await nextTurn()
          for (const each of keys) await ask(each)
        },
      ),
      { numRuns: 60 },
    )
  })

  test("does not cache a value that was being read while the database changed", async () => {
    const started = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const slow = async (key: string) => {
      const found = await look(key)
      started.resolve()
      await gate.promise
      return found
    }
    const find = createExactCache(database.db, slow, { weightMax: 1000 }, () => 1)
    const early = find("a")
    await started.promise
    await write(database.db, "a", 1)
    const late = find("a")
    gate.resolve()

    expect([(await early)?.value, (await late)?.value]).toEqual([0, 1])
    await nextTurn()
    expect((await find("a"))?.value).toBe(1)
  })

  test("does not cache missing values", async () => {
    const find = createFind()
    expect(await find("missing")).toBeUndefined()
    expect(await find("missing")).toBeUndefined()
    expect(reads).toEqual(["missing", "missing"])
  })

  test("rejects with the error of a read, and reads again the next time", async () => {
    let isAway = true
    const find = createExactCache(
      database.db,
      (key) => (isAway ? Promise.reject(new Error("away")) : look(key)),
      { weightMax: 1000 },
      () => 1,
    )
    await expect(find("a")).rejects.toThrow("away")
    isAway = false
    expect(await find("a")).toEqual({ key: "a", value: 0 })
  })

  test("fails like any other read when the database is closed", async () => {
    const db = await openAgain(database)
    const find = createExactCache(db, look, { weightMax: 1000 }, () => 1)
    await find("a")
    await db.stop()
    await nextTurn()
    await expect(find("a")).rejects.toThrow("Cannot use the database: it is closed")
  })

  test("drops everything when its weight exceeds the limit", async () => {
    const find = createFind(2)
    for (const key of [...keys, ...keys]) await find(key)
    // The third exceeded the limit, so the fourth emptied the cache.
    expect(reads).toEqual([...keys, ...keys])
    reads = []
    const heavy = createFind(10, (item) => (item.key === "a" ? 11 : 1))
    for (const key of ["b", "a", "b", "b"]) await heavy(key)
    expect(reads).toEqual(["b", "a", "b"])
  })

  test("reads and weighs a value once that several callers ask for at the same time", async () => {
    let weighed = 0
    const find = createFind(1000, () => {
      weighed += 1
      return 1
    })
    await Promise.all(Array.from({ length: 10 }, () => find("a")))
    expect(weighed).toBe(1)
    expect(reads).toEqual(["a"])
  })

  test("caches nothing where detecting changes costs as much as reading", () => {
    expect(
      createExactCache(
        { ...database.db, changeCount: undefined },
        look,
        { weightMax: 1000 },
        () => 1,
      ),
    ).toBe(look)
  })
})
