import { Database as Connection } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Refused, runWork, Work } from "@hamlet/kit"
import { type Database, rows } from "../database.ts"
import { ConstraintError } from "../errors.ts"
import { raw, sql } from "../sql.ts"
import { fromSqliteError } from "./errors.ts"
import { openSqlite } from "./open.ts"

let folder: string
let path: string
let opened: Database[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hamlet-test-"))
  path = join(folder, "hamlet.db")
  opened = []
})

afterEach(async () => {
  await Promise.all(opened.map((db) => db.stop()))
  rmSync(folder, { recursive: true })
})

function open(options: Parameters<typeof openSqlite>[1] = {}): Database {
  const db = openSqlite(path, options)
  opened.push(db)
  return db
}

const statement = (text: string) => () => rows<Record<string, unknown>>(raw(text))
const insert = (name: string) => () => rows(sql`insert into items (name) values (${name})`)
const countIn = async (db: Database) =>
  (await db.read<{ n: number }>(sql`select count(*) as n from items`))[0]?.n

async function openWithItems(options: Parameters<typeof openSqlite>[1] = {}): Promise<Database> {
  const db = open(options)
  await db.write(
    statement(
      "create table items (name text primary key, parent text references items deferrable initially deferred)",
    ),
  )
  return db
}

const codeOf = (outcome: PromiseSettledResult<unknown>) =>
  outcome.status === "rejected" ? (outcome.reason as Refused).code : "kept"

describe("openSqlite", () => {
  test.each([
    ["journal_mode", "wal", "wal"],
    ["synchronous", 2, undefined],
    ["foreign_keys", 1, undefined],
    ["fullfsync", 1, undefined],
    ["busy_timeout", 0, 5_000],
    ["journal_size_limit", 67_108_864, undefined],
    ["query_only", 0, 1],
  ] as const)("sets %s", async (pragma, forWriting, forReading) => {
    const db = open()

    const [written] = await db.write(statement(`pragma ${pragma}`))
    const [read] = await db.read<Record<string, unknown>>(raw(`pragma ${pragma}`))

    expect(Object.values(written ?? {})).toEqual([forWriting])
    if (forReading !== undefined) expect(Object.values(read ?? {})).toEqual([forReading])
  })

  test("creates files that only their owner can read", async () => {
    await openWithItems()
    const modes = ["", "-wal", "-shm"].map((end) => statSync(`${path}${end}`).mode & 0o777)
    expect(modes).toEqual([0o600, 0o600, 0o600])
  })

  test("reports why a path cannot be opened", () => {
    expect(() => openSqlite(join(folder, "missing", "hamlet.db"))).toThrow(
      new Refused("database_unavailable", "Cannot use the database: unable to open database file"),
    )
  })

  test("reports a file that is not a database", () => {
    writeFileSync(path, "something else".repeat(1_000))

    expect(() => openSqlite(path)).toThrow(
      new Refused("database_unavailable", "Cannot use the database: file is not a database"),
    )
  })

  test("keeps working when it must drop prepared statements", async () => {
    const db = open({ preparedMax: 3 })

    for (let round = 0; round < 3; round += 1) {
      for (let number = 0; number < 10; number += 1)
        expect(await db.read(raw(`select ${number} as n`))).toEqual([{ n: number }])
    }
  })

  test("stop empties the write-ahead log, also when another process has the file open", async () => {
    const db = await openWithItems()
    const other = new Connection(path, { readonly: true })
    other.query("select * from items").all()

    await db.stop()

    expect(statSync(`${path}-wal`).size).toBe(0)
    other.close()
  })
})

describe("SqliteWriter", () => {
  test("commits once for all scripts of one turn", async () => {
    const db = await openWithItems({ groupMsMax: 60_000 })
    const watcher = new Connection(path, { readonly: true })
    const seen = new Set<number>()

    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        db.write(function* () {
          yield sql`insert into items (name) values (${String(index)})`
          seen.add(
            watcher.query<{ n: number }, []>("select count(*) as n from items").get()?.n ?? -1,
          )
        }),
      ),
    )
    watcher.close()

    expect([...seen]).toEqual([0])
    expect(await countIn(db)).toBe(100)
  })

  test("puts at most the maximum of scripts into a group", async () => {
    const db = await openWithItems({ groupMax: 10, groupMsMax: 60_000 })
    const watcher = new Connection(path, { readonly: true })
    const seen = new Set<number>()

    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        db.write(function* () {
          yield sql`insert into items (name) values (${String(index)})`
          seen.add(
            watcher.query<{ n: number }, []>("select count(*) as n from items").get()?.n ?? -1,
          )
        }),
      ),
    )
    watcher.close()

    expect([...seen]).toEqual([0, 10, 20])
  })

  test("repeats the other scripts of a group after one made SQLite roll back the transaction", async () => {
    const db = await openWithItems()
    await db.write(
      statement(
        "create trigger no_evil before insert on items when new.name = 'evil' begin select raise(rollback, 'no'); end",
      ),
    )

    const outcomes = await Promise.allSettled(
      ["a", "evil", "b"].map((name) => db.write(insert(name))),
    )

    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    expect(await db.read(sql`select name from items order by name`)).toEqual([
      { name: "a" },
      { name: "b" },
    ])
    await db.write(insert("c"))
  })

  test("rejects only the script that violates a constraint checked at the commit", async () => {
    const db = await openWithItems()

    const outcomes = await Promise.allSettled([
      db.write(insert("a")),
      db.write(() => rows(sql`insert into items (name, parent) values (${"orphan"}, ${"nobody"})`)),
      db.write(insert("b")),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(ConstraintError)
    expect(await countIn(db)).toBe(2)
  })

  test("runs a script once that fails alone, and again one that fails among others", async () => {
    const db = await openWithItems()
    let times = 0
    const fail = () =>
      db.write(function* () {
        times += 1
        yield sql`insert into items (name) values ('a')`
        throw new Error("no")
      })

    await expect(fail()).rejects.toThrow("no")
    expect([times, await countIn(db)]).toEqual([1, 0])

    const outcomes = await Promise.allSettled([
      db.write(insert("b")),
      fail(),
      db.write(insert("c")),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    expect([times, await countIn(db)]).toEqual([3, 2])
  })

  test("survives a script that ends the transaction itself", async () => {
    const db = await openWithItems()

    const outcomes = await Promise.allSettled([
      db.write(insert("a")),
      db.write(statement("rollback")),
      db.write(insert("b")),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    expect(await countIn(db)).toBe(2)
  })

  test("waits for another process that writes, without blocking reads", async () => {
    const db = await openWithItems()
    const other = new Connection(path)
    other.run("begin immediate")

    const written = db.write(insert("a"))
    await new Promise((resolve) => setImmediate(resolve))
    expect(await countIn(db)).toBe(0)
    other.run("commit")
    other.close()
    await written

    expect(await countIn(db)).toBe(1)
  })

  test("gives up when another process writes for too long", async () => {
    const db = await openWithItems({ lockMsMax: 20 })
    const other = new Connection(path)
    other.run("begin immediate")

    const outcomes = await Promise.allSettled([db.write(insert("a")), db.write(insert("b"))])
    other.run("commit")
    other.close()

    expect(outcomes.map(codeOf)).toEqual(["database_unavailable", "database_unavailable"])
    await db.write(insert("c"))
    expect(await countIn(db)).toBe(1)
  })

  test("waits longer for a patient script", async () => {
    const db = await openWithItems({ lockMsMax: 0 })
    const other = new Connection(path)
    other.run("begin immediate")

    const patient = db.write(insert("a"), { isPatient: true })
    const outcomes = await Promise.allSettled([db.write(insert("b"))])
    other.run("commit")
    other.close()
    await patient

    expect(outcomes.map(codeOf)).toEqual(["database_unavailable"])
    expect(await countIn(db)).toBe(1)
  })

  test("refuses more waiting scripts than allowed", async () => {
    const db = await openWithItems({ waitingMax: 2 })

    const outcomes = await Promise.allSettled(["a", "b", "c"].map((name) => db.write(insert(name))))

    expect(outcomes.map(codeOf)).toEqual(["kept", "kept", "database_unavailable"])
  })
})

/** Does it for an owner. */
function as<T>(owner: string, act: () => T): T {
  const work = new Work()
  work.owner = owner
  return runWork(work, act)
}

describe("SqliteWriter, for several owners,", () => {
  test("lets them take turns", async () => {
    const db = await openWithItems({ groupMax: 4 })
    const order: string[] = []
    const write = (owner: string) =>
      as(owner, () => db.write(insert(`${owner} ${Bun.randomUUIDv7()}`))).then(() =>
        order.push(owner),
      )
    const many = Array.from({ length: 20 }, () => write("ada"))
    await Promise.all([...many, write("bob")])
    expect(order.indexOf("bob")).toBeLessThan(4)
  })

  test("refuses more waiting scripts of one owner than allowed, and none of others", async () => {
    const db = await openWithItems({ ownerWaitingMax: 2 })
    const owners = ["ada", "ada", "ada", "bob"]
    const outcomes = await Promise.allSettled(
      owners.map((owner, index) => as(owner, () => db.write(insert(`${index}`)))),
    )
    expect(outcomes.map(codeOf)).toEqual(["kept", "kept", "rate_limited", "kept"])
  })

  test("pauses in a long script: reads go on, and other writes wait for its end", async () => {
    const db = await openWithItems({ groupMsMax: 1 })
    const long = db.write(function* () {
      for (let index = 0; index < 50; index++) {
        yield sql`insert into items (name) values (${`long ${index}`})`
        for (const startMs = performance.now(); performance.now() - startMs < 2; );
      }
      return yield* rows<{ n: number }>(sql`select count(*) as n from items`)
    })
    const other = db.write(insert("other"))
    let turns = 0
    let isDone = false
    const done = long.finally(() => (isDone = true))
    for (; !isDone; turns++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (!isDone) expect(await countIn(db)).toBe(0)
    }
    expect(turns).toBeGreaterThan(5)
    expect(await done).toEqual([{ n: 50 }])
    await other
    expect(await countIn(db)).toBe(51)
  })

  test("rolls a long script back that fails after a pause", async () => {
    const db = await openWithItems({ groupMsMax: 0 })
    const outcomes = await Promise.allSettled([
      db.write(function* () {
        yield sql`insert into items (name) values ('a')`
        for (const startMs = performance.now(); performance.now() - startMs < 20; );
        yield sql`insert into items (name) values ('b')`
        yield sql`insert into items (name) values ('a')`
      }),
      db.write(insert("c")),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"])
    expect(await countIn(db)).toBe(1)
  })
})

describe("fromSqliteError", () => {
  test("reports a full database as unavailable", () => {
    const connection = new Connection(path)
    connection.run("create table items (name text)")
    connection.run("pragma max_page_count = 2")

    let error: unknown
    try {
      connection.run("insert into items values (?)", ["x".repeat(100_000)])
    } catch (thrown) {
      error = fromSqliteError(thrown)
    }
    connection.close()

    expect(error).toMatchObject({
      code: "database_unavailable",
      message: "Cannot use the database: database or disk is full",
    })
  })

  test("returns other errors unchanged", () => {
    const error = new Error("of a script")

    expect(fromSqliteError(error)).toBe(error)
  })
})
