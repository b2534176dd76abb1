import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { describeEachHome } from "./testing/database-homes.ts"
import { onceMs, sendOnce, type TestHome, type TestOwner } from "./testing/database-testing.ts"
import { doneTable as table } from "./worker/done-requests.ts"

describeEachHome("idempotent requests of OwnerDatabases", (open, home) => {
  let databases: TestHome
  beforeAll(async () => {
    databases = await open()
  })
  afterAll(() => databases[Symbol.asyncDispose]())

  /** An owner with a table of notes. */
  async function withNotes(): Promise<TestOwner> {
    const owner = databases.owner()
    await owner.execute("create table notes (id integer primary key, text)")
    return owner
  }

  const countNotes = (owner: TestOwner) => owner.rows("select count(*) from notes")

  test("are done once, and have the result of the first again", async () => {
    const owner = await withNotes()
    for (const [hash, sql] of [
      ["changes", "insert into notes (text) values ('a')"],
      ["rows", "insert into notes (text) values ('é😀') returning id, text"],
    ] as const) {
      const first = await sendOnce(owner, hash, sql)
      expect(first).toMatchObject({ rowsAffected: 1 })
      for (let again = 0; again < 2; again++)
        expect(await sendOnce(owner, hash, sql)).toEqual(first)
    }
    expect(await countNotes(owner)).toEqual([[2]])
  })

  test.each(["write", "deferred"] as const)(
    "in a batch with mode %s are done once",
    async (mode) => {
      const owner = await withNotes()
      const batch = [
        "select count(*) from notes",
        "insert into notes (text) values ('a')",
        "create table more (a)",
        "insert into more select id from notes returning a",
      ]
      const first = await sendOnce(owner, "batch", batch, { mode })
      expect(first).toMatchObject([{ rows: [[0]] }, {}, {}, { rows: [[1]] }])
      expect(await sendOnce(owner, "batch", batch, { mode })).toEqual(first)
      expect(await countNotes(owner)).toEqual([[1]])
    },
  )

  test("succeed again where their statements would fail", async () => {
    const owner = await withNotes()
    for (const sql of [
      "create table made (a)",
      "insert into notes (id) values (7)",
      "alter table made rename to renamed",
      "drop table renamed",
      "pragma user_version = 3",
    ]) {
      const first = await sendOnce(owner, sql, sql)
      expect([sql, first]).toEqual([sql, expect.objectContaining({ columns: [] })])
      expect([sql, await sendOnce(owner, sql, sql)]).toEqual([sql, first])
    }
  })

  test("that fail are not recorded", async () => {
    const owner = await withNotes()
    const sql = "insert into notes (id) values (1)"
    await owner.execute(sql)
    const failed = { kind: "failed", message: "UNIQUE constraint failed: notes.id" }
    expect(await sendOnce(owner, "later", sql)).toMatchObject(failed)
    await owner.execute("delete from notes")
    expect(await sendOnce(owner, "later", sql)).toMatchObject({ rowsAffected: 1 })
  })

  test("that only read write nothing", async () => {
    const owner = await withNotes()
    const [before] = await owner.rows("pragma schema_version")
    for (const mode of ["single", "read", "deferred", "write"] as const)
      await sendOnce(owner, mode, "select * from notes", { mode })
    const reader = { mode: "write", canWrite: false } as const
    await sendOnce(owner, "reader", "select * from notes", reader)
    expect(await sendOnce(owner, "writer", "delete from notes", reader)).toEqual({
      kind: "write_refused",
    })
    expect(await owner.rows("pragma schema_version")).toEqual([before ?? []])
    expect(await tablesOf(owner)).toEqual(["notes"])
  })

  test("have no result again if it is long, and are not done again either", async () => {
    const owner = await withNotes()
    const [short, long] = [1_000, 5_000].map(
      (chars) => `insert into notes (text) values (printf('%.${chars}c', 'é')) returning text`,
    ) as [string, string]
    for (const sql of [short, long])
      expect(await sendOnce(owner, sql, sql)).toMatchObject({ rowsAffected: 1 })
    expect(await sendOnce(owner, short, short)).toMatchObject({ rowsAffected: 1 })
    expect(await sendOnce(owner, long, long)).toEqual({ kind: "done_before" })
    expect(await countNotes(owner)).toEqual([[2]])
  })

  test("at the same time are done once", async () => {
    const owner = await withNotes()
    const sql = "insert into notes (text) values ('a') returning id"
    const results = await Promise.all(
      Array.from({ length: 8 }, () => sendOnce(owner, "at once", sql)),
    )
    expect(results).toEqual(results.map(() => expect.objectContaining({ rows: [[1]] })))
    expect(await countNotes(owner)).toEqual([[1]])
  })

  test("are forgotten in time", async () => {
    const owner = await withNotes()
    const sql = "insert into notes (text) values ('a')"
    const at = Date.now()
    const counts: unknown[] = []
    for (const later of [0, onceMs - 1, onceMs, onceMs + 1]) {
      const idempotent = { hash: "old", at: at + later, discardBefore: at + later - onceMs }
      await sendOnce(owner, "old", sql, { idempotent })
      counts.push(await countNotes(owner))
    }
    expect(counts.flat(2)).toEqual([1, 1, 2, 2])
  })

  test("change rows of a full database, which has no room for others", async () => {
    await using small = await open({ bytesMax: 200_000 })
    const owner = small.owner()
    await owner.execute("create table notes (id integer primary key, text)")
    const insert = "insert into notes (text) values (zeroblob(3000))"
    const fill = async (): Promise<number> => {
      const outcome = await owner.execute(insert)
      return "rowsAffected" in outcome ? 1 + (await fill()) : 0
    }
    const count = await fill()
    expect(count).toBeGreaterThan(10)
    expect(await sendOnce(owner, "insert", insert)).toMatchObject({ kind: "full" })
    const change = "update notes set text = 'a' where id = 1"
    for (let again = 0; again < 2; again++)
      expect(await sendOnce(owner, "update", change)).toMatchObject({ rowsAffected: 1 })
    expect(await sendOnce(owner, "delete", "delete from notes")).toMatchObject({
      rowsAffected: count,
    })
    expect(await sendOnce(owner, "insert", insert)).toMatchObject({ rowsAffected: 1 })
  })

  test("leave the row id of the last statement as it was", async () => {
    const owner = await withNotes()
    const sql = "insert into notes (id) values (77)"
    expect(await sendOnce(owner, "id", sql)).toMatchObject({ lastInsertRowid: 77 })
    const batch = ["insert into notes (id) values (78)", "select last_insert_rowid()"]
    expect(await sendOnce(owner, "batch", batch, { mode: "write" })).toMatchObject([
      {},
      { rows: [[78]] },
    ])
  })

  describe("have a table that", () => {
    const refused = `not authorized: the table ${table} is the server's`

    test.each([
      `select * from ${table}`,
      `select count(*) from "${table.toUpperCase()}"`,
      `with x as (select hash from main.[${table}]) select * from x`,
      `select * from notes where exists (select 1 from ${table})`,
      `insert into ${table} values ('a', 1, 2, 'b')`,
      `update ${table} set result = 'x'`,
      `delete from ${table}`,
      `drop table ${table}`,
      `drop table if exists ${table}`,
      `create table ${table} (a)`,
      `create table if not exists ${table} as select 1`,
      `create view ${table} as select 1`,
      `create virtual table ${table} using fts5(a)`,
      `create index i on ${table} (at)`,
      `create index ${table} on notes (text)`,
      `create trigger tr after insert on ${table} begin delete from notes; end`,
      `alter table ${table} rename to mine`,
      `alter table ${table} add column mine`,
      `alter table notes rename to ${table}`,
      `alter table notes rename to "_Hamlet_Requests"`,
    ])("%s cannot use", async (sql) => {
      const owner = await withNotes()
      await sendOnce(owner, "first", "insert into notes (text) values ('a')")
      // SQLite may say before that there is something of this name.
      const message = expect.stringMatching(/is the server's|already/)
      expect(await owner.execute(sql)).toMatchObject({ kind: "failed", message })
      expect(await owner.batch([sql])).toMatchObject({ kind: "failed", message })
      expect(await tablesOf(owner)).toEqual([table, "notes"])
    })

    test("cannot be created before it is there", async () => {
      const owner = await withNotes()
      for (const sql of [
        `create table ${table} (hash)`,
        `create view ${table} as select 1`,
        `alter table notes rename to ${table}`,
      ])
        expect(await owner.execute(sql)).toMatchObject({ kind: "failed", message: refused })
      expect(await tablesOf(owner)).toEqual(["notes"])
    })

    test("views and triggers cannot use", async () => {
      const owner = await withNotes()
      await owner.execute(`create view seen as select * from ${table}`)
      await owner.execute(`create trigger tr after insert on notes begin delete from ${table}; end`)
      await sendOnce(owner, "first", "create table other (a)")
      for (const sql of ["select * from seen", "insert into notes (text) values ('a')"])
        expect(await owner.execute(sql)).toMatchObject({ kind: "failed", message: refused })
    })

    test("statements about all tables leave alone", async () => {
      const owner = await withNotes()
      await sendOnce(owner, "first", "insert into notes (text) values ('a')")
      for (const sql of [
        ...(home === "files" ? ["analyze"] : []),
        "reindex",
        "pragma integrity_check",
        "select m.name, c.name from sqlite_schema m, pragma_table_info(m.name) c",
      ])
        expect([sql, await owner.execute(sql)]).toEqual([
          sql,
          expect.objectContaining({ rowsAffected: 0 }),
        ])
    })
  })
})

async function tablesOf(owner: TestOwner): Promise<unknown[]> {
  const sql = "select name from sqlite_schema where type in ('table', 'view') order by name"
  return (await owner.rows(sql)).flat()
}
