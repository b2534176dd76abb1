import { expect, test } from "bun:test"
import { Refused } from "@hamlet/kit"
import { type Database, firstRow, rows } from "./database.ts"
import { ConstraintError } from "./errors.ts"
import { raw, sql } from "./sql.ts"
import { describeEachDatabase } from "./testing/empty-databases.ts"
import { type OpenDatabase, openAgain } from "./testing/test-databases.ts"

async function openWithTables(open: OpenDatabase) {
  const opened = await open()
  const { types } = opened.db.dialect
  await opened.db.write(function* () {
    yield raw(
      `create table items (name ${types.text} primary key, count ${types.integer} default 0 check (count < 1000), at ${types.time})`,
    )
    yield raw(
      `create table copies (name ${types.text} not null references items, bytes ${types.bytes}, item ${types.id})`,
    )
  })
  return opened
}

async function namesIn(db: Database, table = "items"): Promise<readonly string[]> {
  const found = await db.read<{ name: string }>(sql`select name from ${raw(table)} order by name`)
  return found.map(({ name }) => name)
}

const insert = (name: string) => sql`insert into items (name) values (${name})`

const insertOnly = (name: string) =>
  function* () {
    yield insert(name)
  }

describeEachDatabase("Database", (open) => {
  test("write is seen by the next read, and returns what the script returns", async () => {
    const { db } = await openWithTables(open)

    const returned = await db.write(function* () {
      yield insert("a")
      const item = yield* firstRow<{ name: string }>(
        sql`select name from items where name = ${"a"}`,
      )
      const none = yield* firstRow(sql`select name from items where name = ${"b"}`)
      const all = yield* rows<{ name: string }>(sql`select name from items`)
      return [item?.name, none, all.length]
    })

    expect(returned).toEqual(["a", undefined, 1])
    expect(await namesIn(db)).toEqual(["a"])
  })

  test("rows are records: fields have the names of the code, and every number is a number", async () => {
    const { db } = await openWithTables(open)
    await db.write(insertOnly("a"))
    await db.write(function* () {
      yield sql`update items set at = ${1_767_225_600_000}, count = ${7}`
    })
    const select = sql`select name as first_name, at as created_at, count(*) as how_many, sum(at) as total,
      max(at) as v2_at, null as not_there from items group by name, at`
    const expected = [
      {
        firstName: "a",
        createdAt: 1_767_225_600_000,
        howMany: 1,
        total: 1_767_225_600_000,
        v2At: 1_767_225_600_000,
        notThere: null,
      },
    ]
    expect(await db.read(select)).toEqual(expected)
    expect(await db.write(() => rows(select))).toEqual(expected)
    expect(await db.writeOne(sql`update items set count = 8 returning at as created_at`)).toEqual([
      { createdAt: 1_767_225_600_000 },
    ])
  })

  test("columns of a join are groups of fields, and a group with a null is null", async () => {
    const { db } = await openWithTables(open)
    for (const name of ["a", "b"]) await db.write(insertOnly(name))
    await db.write(function* () {
      yield sql`insert into copies (name) values (${"a"})`
    })
    const found = await db.read(sql`
      select i.name, i.name as the_item__name, i.count as the_item__of__all_counts,
        coalesce(c.name, ${"none"}) as copy__first, c.name as copy__name, coalesce(c.name, ${"none"}) as copy__last
      from items i left join copies c on c.name = i.name order by i.name`)
    expect(found).toEqual([
      {
        name: "a",
        theItem: { name: "a", of: { allCounts: 0 } },
        copy: { first: "a", name: "a", last: "a" },
      },
      { name: "b", theItem: { name: "b", of: { allCounts: 0 } }, copy: null },
    ])
  })

  test("columns are booleans and JSON by their names, and may be null in their group", async () => {
    const { db } = await openWithTables(open)
    await db.write(insertOnly("a"))
    const found = await db.read(sql`
      select 1 as is_one, 0 as has_one, exists (select 1 from items) as has_items, count as issued, null as is_null, 1 as read_flag,
        '{"a":[1]}' as data_json, null as none_json, 'null' as no_value_json, '[]' as group__list_json,
        null as group___owner_id, 1 as group__is_own, null as left__out, null as left___out
      from items`)
    expect(found).toEqual([
      {
        isOne: true,
        hasOne: false,
        hasItems: true,
        issued: 0,
        isNull: null,
        read: true,
        data: { a: [1] },
        none: null,
        noValue: null,
        group: { list: [], ownerId: null, isOwn: true },
        left: null,
      },
    ])
  })

  test("write runs last steps at the end, in the order of their keys, and only the last one for each key", async () => {
    const { db } = await openWithTables(open)
    const order: string[] = []
    const last = (key: string, name: string) => ({
      key,
      *run() {
        order.push(name)
        yield insert(name)
      },
    })

    await db.write(function* () {
      yield last("b", "third")
      yield last("a", "never")
      yield last("a", "second")
      order.push("first")
      yield insert("first")
    })

    expect(order).toEqual(["first", "second", "third"])
    expect(await namesIn(db)).toEqual(["first", "second", "third"])
  })

  test("write rolls back a script whose last step fails, and commits the others of the same turn", async () => {
    const { db } = await openWithTables(open)
    const script = (name: string, lastName: string) =>
      function* () {
        yield insert(name)
        yield { key: name, run: insertOnly(lastName) }
      }

    const outcomes = await Promise.allSettled([
      db.write(script("a", "a last")),
      db.write(script("b", "b")),
      db.write(script("c", "c last")),
      db.write(function* () {
        yield* script("d", "d last")()
        throw new Error("changed my mind")
      }),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
    ])
    expect(await namesIn(db)).toEqual(["a", "a last", "c", "c last"])
  })

  test("write rolls back a script that throws, and rejects with its error", async () => {
    const { db } = await openWithTables(open)
    const error = new Error("changed my mind")

    const written = db.write(function* () {
      yield insert("a")
      throw error
    })

    await expect(written).rejects.toBe(error)
    expect(await namesIn(db)).toEqual([])
  })

  test("write rolls back a script with a failed statement, even if the script catches the error", async () => {
    const { db } = await openWithTables(open)

    const written = db.write(function* () {
      yield insert("a")
      try {
        yield insert("a")
      } catch {
        yield insert("b")
      }
    })

    await expect(written).rejects.toBeInstanceOf(ConstraintError)
    expect(await namesIn(db)).toEqual([])
  })

  test("write keeps failing scripts from affecting others of the same turn", async () => {
    const { db } = await openWithTables(open)
    const numbers = Array.from({ length: 60 }, (_, index) => index)

    const outcomes = await Promise.allSettled(
      numbers.map((number) =>
        db.write(function* () {
          yield insert(`${number}`)
          if (number % 3 === 1) throw new Error("by itself")
          if (number % 3 === 2) yield insert(`${number}`)
        }),
      ),
    )

    const isKept = (number: number) => number % 3 === 0
    expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual(numbers.map(isKept))
    expect(await namesIn(db)).toEqual(numbers.filter(isKept).map(String).sort())
  })

  test("write loses no update when many scripts change the same row", async () => {
    const { db } = await openWithTables(open)
    await db.write(insertOnly("a"))

    await Promise.all(
      Array.from({ length: 50 }, () =>
        db.write(function* () {
          const item = yield* firstRow<{ count: number }>(
            sql`select count from items where name = ${"a"} ${db.dialect.forUpdate}`,
          )
          yield sql`update items set count = ${(item?.count ?? 0) + 1} where name = ${"a"}`
        }),
      ),
    )

    expect(await db.read(sql`select count from items`)).toEqual([{ count: 50 }])
  })

  test("write accepts many more scripts than there are connections", async () => {
    const { db } = await openWithTables(open)
    const names = Array.from({ length: 600 }, (_, index) => String(index))

    await Promise.all(names.map((name) => db.write(insertOnly(name))))

    expect((await namesIn(db)).length).toBe(600)
    expect(db.stats()).toMatchObject({ inUse: 0, waiting: 0 })
  })

  test("read does not see a script before its commit", async () => {
    const { db, url } = await openWithTables(open)
    let isReading = true

    const { reading } = await db.write(function* () {
      yield insert("a")
      const reading = namesIn(db).finally(() => {
        isReading = false
      })
      // Where statements are asynchronous, this delays the commit until the read has returned.
      while (url !== undefined && isReading) yield sql`select 1`
      return { reading }
    })

    expect(await reading).toEqual([])
  })

  test("read refuses to change anything", async () => {
    const { db } = await openWithTables(open)

    await expect(db.read(insert("a"))).rejects.toThrow()
    expect(await namesIn(db)).toEqual([])
  })

  test("read returns values as they were written", async () => {
    const { db } = await openWithTables(open)
    const bytes = new Uint8Array([0, 1, 255])
    const id = "6a9a5a9e-7bc4-4e7f-9a39-2d6e1f1c8c35"
    const at = 1_731_628_800_000

    await db.write(function* () {
      yield sql`insert into items (name, count, at) values (${"é 😀 '\"\\ $1"}, ${-5}, ${at}), (${"small"}, ${null}, ${1})`
      yield sql`insert into copies (name, bytes, item) values (${"small"}, ${bytes}, ${id}), (${"small"}, ${new Uint8Array()}, ${null})`
    })

    const items = await db.read<{ name: string; count: number | null; at: unknown }>(
      sql`select name, count, at from items where at >= ${1} order by at`,
    )
    expect(items.map((item) => ({ ...item, at: Number(item.at) }))).toEqual([
      { name: "small", count: null, at: 1 },
      { name: "é 😀 '\"\\ $1", count: -5, at },
    ])
    const copies = await db.read<{ bytes: Uint8Array; item: string | null }>(
      sql`select bytes, item from copies order by bytes desc`,
    )
    expect(copies.map((copy) => ({ ...copy, bytes: [...copy.bytes] }))).toEqual([
      { bytes: [0, 1, 255], item: id },
      { bytes: [], item: null },
    ])
  })

  test("one prepared statement accepts small numbers, large numbers and null", async () => {
    const { db } = await openWithTables(open)
    await db.write(() => rows(sql`insert into items (name, at) values (${"a"}, ${2 ** 40})`))

    const found: number[] = []
    for (const at of [1, null, 2 ** 40, Number.MAX_SAFE_INTEGER, 0]) {
      found.push((await db.read(sql`select name from items where at <= ${at}`)).length)
    }

    expect(found).toEqual([0, 0, 1, 1, 0])
  })

  test("texts are ordered by their bytes", async () => {
    const { db } = await openWithTables(open)
    const names = ["B", "a", "Z", "ä", "_", "b", "1"]

    for (const name of names) await db.write(insertOnly(name))

    expect(await namesIn(db)).toEqual(["1", "B", "Z", "_", "a", "b", "ä"])
  })

  test("write refuses a text with a NUL, and other scripts succeed", async () => {
    const { db } = await openWithTables(open)

    const outcomes = await Promise.allSettled([
      db.write(insertOnly("a")),
      db.write(insertOnly("b\0")),
      db.read(sql`select ${"\0"}`),
    ])

    expect(
      outcomes.map((outcome) =>
        outcome.status === "rejected" ? (outcome.reason as Refused).code : "kept",
      ),
    ).toEqual(["kept", "invalid_request", "invalid_request"])
    expect(await namesIn(db)).toEqual(["a"])
  })

  test.each([
    ["unique", sql`insert into items (name) values ('a')`],
    ["foreign_key", sql`insert into copies (name) values ('nobody')`],
    ["not_null", sql`insert into copies (name) values (null)`],
    ["check", sql`insert into items (name, count) values ('b', 1000)`],
  ] as const)("write reports a violated constraint by its kind: %s", async (kind, statement) => {
    const { db } = await openWithTables(open)
    await db.write(insertOnly("a"))

    const error = await db
      .write(function* () {
        yield statement
      })
      .catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(ConstraintError)
    expect((error as ConstraintError).kind).toBe(kind)
  })

  test("a mistake in our SQL is not reported as an unavailable database", async () => {
    const { db } = await openWithTables(open)

    const errors = await Promise.all([
      db.read(sql`selec 1`).catch((error: unknown) => error),
      db.write(() => rows(sql`selec 1`)).catch((error: unknown) => error),
    ])

    for (const error of errors) {
      expect(error).toBeInstanceOf(Error)
      expect(error).not.toBeInstanceOf(Refused)
    }
  })

  test("explain returns a plan", async () => {
    const { db } = await openWithTables(open)

    const plan = await db.read(db.dialect.explain(sql`select * from items where name = ${"a"}`))

    expect(JSON.stringify(plan)).toContain("items")
  })

  test("ping resolves while the database is open", async () => {
    const { db } = await openWithTables(open)

    await db.ping()
  })

  test("stop finishes earlier writes and refuses later ones", async () => {
    const database = await openWithTables(open)
    const db = await openAgain(database)
    const before = Array.from({ length: 20 }, (_, index) => db.write(insertOnly(String(index))))

    const stopped = [db.stop(), db.stop()]
    const after = await Promise.allSettled([
      db.write(insertOnly("late")),
      db.read(sql`select 1`),
      db.ping(),
    ])
    await Promise.all([...before, ...stopped])

    expect(
      after.map((outcome) => outcome.status === "rejected" && (outcome.reason as Refused).code),
    ).toEqual(Array(3).fill("database_unavailable"))
    expect((await namesIn(database.db)).length).toBe(20)
  })

  test("write loses nothing acknowledged when the process is killed", async () => {
    const database = await openWithTables(open)
    const program = new URL("./testing/writing-child.ts", import.meta.url).pathname
    const child = Bun.spawn([process.execPath, program, database.url ?? "", database.path ?? ""], {
      stdout: "pipe",
      stderr: "inherit",
    })

    let acknowledged = ""
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      acknowledged += decoder.decode(chunk, { stream: true })
      if (acknowledged.split("\n").length > 200) child.kill("SIGKILL")
    }
    await child.exited

    const again = await openAgain(database)
    const [items, copies] = await Promise.all([namesIn(again), namesIn(again, "copies")])
    await again.stop()
    // The last line may have been cut off by the kill.
    const names = acknowledged.split("\n").slice(0, -1)
    expect(child.signalCode).toBe("SIGKILL")
    expect(names.filter((name) => !items.includes(name))).toEqual([])
    expect(copies).toEqual(items)
  })

  test("Dialect.tableOf makes a table of any values, also of none", async () => {
    const { db } = await open()
    const columns = { at: "time", name: "text", id: "id", count: "integer", note: "text" } as const
    const names = ["", "a,b", `"{}\\"`, "NULL", "é\n😀", "\\", " ", "'", "x"]
    const items = names.map((name, index) => ({
      at: 1_800_000_000_000 + index,
      name,
      note: undefined,
      id: index % 2 === 0 ? Bun.randomUUIDv7() : null,
      count: index === 4 ? -1 : undefined,
    }))
    const read = (rows: readonly object[]) =>
      db.read<Record<keyof typeof columns, unknown>>(
        sql`select * from ${db.dialect.tableOf(rows, columns)} order by at`,
      )
    const found = await read(items)
    expect(found.map((row) => ({ ...row, at: Number(row.at) }))).toEqual(
      items.map((item) => ({ ...item, note: null, count: item.count ?? null })),
    )
    expect(await read([])).toEqual([])
  })
})
