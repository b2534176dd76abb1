import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { describeEachHome } from "../testing/database-homes.ts"
import { openDatabases, type TestHome, type TestOwner } from "../testing/database-testing.ts"

describeEachHome("OwnerDatabases", (open) => {
  let databases: TestHome

  beforeAll(async () => {
    databases = await open()
  })

  afterAll(() => databases[Symbol.asyncDispose]())

  /** An owner with a table of books. */
  async function withBooks(): Promise<TestOwner> {
    const owner = databases.owner()
    await owner.execute(
      "create table books (id integer primary key, title text not null, price real, cover blob, stock INT, note varchar(20))",
    )
    return owner
  }

  describe("a result", () => {
    test("has columns with their declared types, and rows as arrays", async () => {
      const owner = await withBooks()
      await owner.execute(
        "insert into books (title, price, cover, stock) values ('Hamlet', 9.5, x'010203', 7)",
      )
      expect(await owner.execute("select *, price * 2 as twice from books")).toEqual({
        columns: ["id", "title", "price", "cover", "stock", "note", "twice"],
        columnTypes: ["INTEGER", "TEXT", "REAL", "BLOB", "INT", "varchar(20)", ""],
        rows: [[1, "Hamlet", 9.5, "AQID", 7, null, 19]],
        rowsAffected: 0,
        lastInsertRowid: null,
      })
    })

    test("has integers beyond the range of JSON as strings, and Infinity as null", async () => {
      const owner = databases.owner()
      const sql =
        "select 9007199254740991, 9007199254740992, -9223372036854775808, 1e999, -1e999, 1e300, 0.1, ''"
      const row = [
        9007199254740991,
        "9007199254740992",
        "-9223372036854775808",
        null,
        null,
        1e300,
        0.1,
        "",
      ]
      expect(await owner.rows(sql)).toEqual([row])
    })

    test("has strings unchanged", async () => {
      const owner = databases.owner()
      const text = 'é\u2028😀"\\\n\t\u0000 end'
      expect(
        await owner.rows("select ?, length(cast(? as blob)), char(0) || 'x'", [text, text]),
      ).toEqual([[text, Buffer.byteLength(text), "\u0000x"]])
    })

    test("has the number of changed rows, and the id of the last inserted row", async () => {
      const owner = await withBooks()
      const insert = "insert into books (title) values (?), (?)"
      expect(await owner.execute(insert, ["a", "b"])).toMatchObject({
        rowsAffected: 2,
        lastInsertRowid: 2,
        columns: [],
        rows: [],
      })
      expect(await owner.execute("update books set stock = 1")).toMatchObject({
        rowsAffected: 2,
        lastInsertRowid: null,
      })
      expect(await owner.execute("select * from books where id = 1")).toMatchObject({
        rowsAffected: 0,
        lastInsertRowid: null,
      })
      const returning = await owner.execute(
        "insert into books (id, title) values (9, 'c') returning id, title",
      )
      expect(returning).toMatchObject({
        rowsAffected: 1,
        lastInsertRowid: 9,
        columns: ["id", "title"],
        rows: [[9, "c"]],
      })
      expect(
        await owner.execute("insert or ignore into books (id, title) values (9, 'd')"),
      ).toMatchObject({
        rowsAffected: 0,
        lastInsertRowid: null,
      })
      expect(await owner.execute("delete from books returning id")).toMatchObject({
        rowsAffected: 3,
        lastInsertRowid: null,
      })
      expect(await owner.execute("create table other (a)")).toMatchObject({
        rowsAffected: 0,
        lastInsertRowid: null,
      })
      expect(
        await owner.execute("insert into other (rowid, a) values (9223372036854775807, 1)"),
      ).toMatchObject({
        lastInsertRowid: "9223372036854775807",
      })
      expect(await owner.execute("drop table other")).toMatchObject({ rowsAffected: 0 })
    })

    test("does not count changes by triggers", async () => {
      const owner = await withBooks()
      await owner.execute("create table log (a)")
      await owner.execute(
        "create trigger tr after update on books begin insert into log values (1), (2); end",
      )
      await owner.execute("insert into books (title) values ('a')")
      expect(await owner.execute("update books set stock = 1")).toMatchObject({
        rowsAffected: 1,
        lastInsertRowid: null,
      })
      expect(await owner.rows("select count(*) from log")).toEqual([[2]])
    })

    test("has the current columns of the table, also for a cached statement", async () => {
      const owner = await withBooks()
      const columns = async () => {
        const result = await owner.execute("select * from books")
        return "columns" in result ? result.columns.length : 0
      }
      expect(await columns()).toBe(6)
      await owner.execute("alter table books add column extra")
      expect(await columns()).toBe(7)
      await owner.execute("drop table books")
      expect(await owner.execute("select * from books")).toMatchObject({
        kind: "failed",
        message: "no such table: books",
      })
    })

    test("that is too large is refused, and the statement is rolled back", async () => {
      const owner = databases.owner()
      await owner.execute("create table t (a)")
      const outcome = await owner.execute(
        "insert into t values (hex(zeroblob(5000000))), (1) returning a",
      )
      expect(outcome).toMatchObject({
        kind: "failed",
        message: "the result is larger than 8388608 bytes",
      })
      expect(await owner.rows("select count(*) from t")).toEqual([[0]])
      // Nor does one that was broken off hold on to anything.
      await owner.execute("insert into t values (zeroblob(5000000)), (zeroblob(5000000))")
      expect(await owner.execute("select hex(a) from t")).toMatchObject({ kind: "failed" })
      expect(await owner.execute("drop table t")).toMatchObject({ rowsAffected: 0 })
      // Three bytes for each character on the wire.
      const wide = await owner.execute("select replace(hex(zeroblob(1500000)), '0', '€')")
      expect(wide).toEqual({ kind: "failed", message: "the result is larger than 8388608 bytes" })
    })
  })

  describe("arguments", () => {
    test("bind in order, by number or by name, with or without the prefix", async () => {
      const owner = databases.owner()
      expect(await owner.rows("select ?, ?", [1, "b"])).toEqual([[1, "b"]])
      expect(await owner.rows("select ?2, ?1, ?2", ["a", "b"])).toEqual([["b", "a", "b"]])
      expect(await owner.rows("select :a, @b, $c", ["a", "b", "c"])).toEqual([["a", "b", "c"]])
      expect(await owner.rows("select :a, @b, $c, :a", { a: 1, "@b": 2, c: 3 })).toEqual([
        [1, 2, 3, 1],
      ])
      expect(await owner.rows("select :a, $a", { ":a": 1, $a: 2 })).toEqual([[1, 2]])
      expect(await owner.rows("select :a", { a: 1, unused: 2 })).toEqual([[1]])
      expect(await owner.rows("select ?, :a, ?", ["x", "y", "z"])).toEqual([["x", "y", "z"]])
    })

    test("may have every type of SQLite", async () => {
      const owner = databases.owner()
      const sql = "select typeof(?), typeof(?), typeof(?), typeof(?), typeof(?), hex(?), hex(?)"
      expect(
        await owner.rows(sql, [null, true, 5, 1.5, "5", { base64: "AQID" }, { 0: 255, 1: 0 }]),
      ).toEqual([["null", "integer", "integer", "real", "text", "010203", "FF00"]])
      expect(await owner.rows("select ?, ?", [true, false])).toEqual([[1, 0]])
      await owner.execute("create table t (a text)")
      await owner.execute("insert into t values (?)", [5])
      expect(await owner.rows("select a from t")).toEqual([["5"]])
    })

    test("must be as many as there are parameters", async () => {
      const owner = databases.owner()
      const message = async (sql: string, args: unknown) => {
        const outcome = await owner.execute(sql, args as [])
        return "message" in outcome ? outcome.message : undefined
      }
      expect(await message("select ?, ?", [1])).toBe(
        "it has 2 parameters, and there are 1 arguments",
      )
      expect(await message("select 1", [1])).toBe("it has 0 parameters, and there are 1 arguments")
      expect(await message("select :name", {})).toBe("there is no argument for parameter :name")
      expect(await message("select :constructor", {})).toBe(
        "there is no argument for parameter :constructor",
      )
      expect(await message("select ?", { a: 1 })).toBe(
        "parameter 1 has no name, and the arguments are given by name",
      )
      expect(
        await message(
          'select \'?\', ":a", [@b], `$c` -- ?\n from (select 1 as ":a", 2 as "@b", 3 as "$c") /* :d */',
          [],
        ),
      ).toBeUndefined()
    })

    test("may be as many as 32,766", async () => {
      const owner = databases.owner()
      const args = Array.from({ length: 32_766 }, (_, index) => index)
      expect(await owner.rows(`select 32765 in (${args.map(() => "?").join(",")})`, args)).toEqual([
        [1],
      ])
    })
  })

  describe("a batch", () => {
    test("runs all statements or none", async () => {
      const owner = await withBooks()
      await owner.execute(
        "create table pages (book integer references books (id) deferrable initially deferred)",
      )
      const good = await owner.batch([
        "create table more (a)",
        "insert into more values (1)",
        { sql: "select a + ? from more", args: [1] },
      ])
      expect(good).toMatchObject([
        { rowsAffected: 0 },
        { rowsAffected: 1, lastInsertRowid: 1 },
        { rows: [[2]] },
      ])
      const insert = "insert into books (title) values ('x')"
      expect(await owner.batch([insert, "insert into books (title) values (null)"])).toMatchObject({
        kind: "failed",
        index: 1,
        message: "NOT NULL constraint failed: books.title",
      })
      expect(
        await owner.batch([insert, "create table gone (a)", "drop table more", "selec"]),
      ).toMatchObject({ kind: "failed", index: 3 })
      expect(
        await owner.batch([insert, "insert or rollback into books (title) values (null)", insert]),
      ).toMatchObject({ index: 1 })
      // The end of the transaction fails.
      expect(await owner.batch([insert, "insert into pages values (77)"])).toMatchObject({
        message: "FOREIGN KEY constraint failed",
      })
      expect(await owner.batch([insert, "select ?"])).toMatchObject({ index: 1 })
      expect(await owner.batch([insert, "commit"])).toMatchObject({ index: 1 })
      expect(
        await owner.rows("select (select count(*) from books), (select count(*) from more)"),
      ).toEqual([[0, 1]])
      expect(
        await owner.rows("select name from sqlite_master where name in ('gone', 'more')"),
      ).toEqual([["more"]])
    })

    test("may defer foreign keys to its end", async () => {
      const owner = databases.owner()
      await owner.batch([
        "create table a (id integer primary key)",
        "create table b (a references a (id))",
      ])
      const wrongOrder = ["insert into b values (1)", "insert into a values (1)"]
      expect(await owner.batch(wrongOrder)).toMatchObject({ kind: "failed", index: 0 })
      expect(await owner.batch(["pragma defer_foreign_keys = on", ...wrongOrder])).toHaveLength(3)
      expect(await owner.execute("pragma defer_foreign_keys = on")).toMatchObject({
        message: expect.stringContaining("outside of a batch"),
      })
      expect(await owner.execute("insert into b values (2)")).toMatchObject({
        message: "FOREIGN KEY constraint failed",
      })
    })

    test("may be empty", async () => {
      expect(await databases.owner().batch([])).toEqual([])
    })

    test("reads or writes by its mode", async () => {
      const owner = await withBooks()
      const insert = "insert into books (title) values ('x')"
      expect(await owner.batch([insert], "write")).toMatchObject([{ rowsAffected: 1 }])
      expect(await owner.batch([insert], "deferred")).toMatchObject([{ rowsAffected: 1 }])
      expect(await owner.batch(["select count(*) from books", insert], "read")).toEqual({
        kind: "write_refused",
      })
      expect(await owner.batch(["select count(*) from books"], "read")).toMatchObject([
        { rows: [[2]] },
      ])
      expect(await owner.batch(["select count(*) from books"], "write")).toMatchObject([
        { rows: [[2]] },
      ])
      expect(await owner.batch([insert])).toMatchObject([{ rowsAffected: 1 }])
    })
  })

  describe("a database", () => {
    test("is full at its limit, and works again after a delete", async () => {
      await using small = await open({ bytesMax: 400_000 })
      const owner = small.owner()
      await owner.execute("create table t (id integer primary key, a)")
      let rows = 0
      let outcome = await owner.execute("insert into t (a) values (zeroblob(20000))")
      for (; "rowsAffected" in outcome; rows++)
        outcome = await owner.execute("insert into t (a) values (zeroblob(20000))")
      expect(outcome).toEqual({
        kind: "full",
        message: "your databases would have more than 400000 bytes in total",
      })
      expect(rows).toBeGreaterThan(15)
      expect(
        await owner.batch([
          "insert into t (id, a) values (1000, 1)",
          "insert into t (a) values (zeroblob(200000))",
        ]),
      ).toMatchObject({
        kind: "full",
      })
      expect(await owner.rows("select count(*) from t")).toEqual([[rows]])
      expect(await owner.execute("delete from t where id <= 3")).toMatchObject({ rowsAffected: 3 })
      expect(await owner.execute("insert into t (a) values (zeroblob(20000))")).toMatchObject({
        rowsAffected: 1,
      })
    })

    test("does not grow beyond its limit by a transaction that is rolled back", async () => {
      await using small = await open({ bytesMax: 2_000_000 })
      const owner = small.owner()
      await owner.execute("create table t (a)")
      for (let count = 0; count < 5; count++)
        await owner.batch([
          ...Array.from({ length: 15 }, () => "insert into t values (zeroblob(100000))"),
          "delete from t",
        ])
      expect(await small.pool.sizeOf(owner.id)).toBeLessThan(2_000_000 + 4_194_304 + 2_000_000)
    })

    test("returns free space to the system", async () => {
      await using small = await openDatabases({ limits: { idleMsMax: 30 } })
      const owner = small.owner()
      await owner.execute("create table t (a)")
      for (let count = 0; count < 10; count++)
        await owner.execute("insert into t values (zeroblob(500000))")
      const before = await small.pool.sizeOf(owner.id)
      await owner.execute("delete from t")
      await waitUntil(() => small.pool.pids.length === 0)
      expect(await small.pool.sizeOf(owner.id)).toBeLessThan(before / 10)
      expect(await owner.rows("pragma integrity_check")).toEqual([["ok"]])
    })

    test("supports what people use SQLite for", async () => {
      const owner = databases.owner()
      await owner.batch([
        "create table posts (id integer primary key, body text, meta text, tags text generated always as (meta ->> '$.tags') stored)",
        "create virtual table search using fts5(body, content='posts', content_rowid='id')",
        "create trigger ai after insert on posts begin insert into search (rowid, body) values (new.id, new.body); end",
        "create view recent as select id, body from posts order by id desc limit 10",
        "create index by_tags on posts (tags) where tags is not null",
        "create virtual table places using rtree(id, x0, x1, y0, y1)",
      ])
      await owner.execute(
        "insert into posts (body, meta) values ('To be, or not to be', json_object('tags', 'play')), ('Words, words', '{}')",
      )
      expect(
        await owner.rows(
          "select rowid, highlight(search, 0, '<', '>') from search where search match 'be'",
        ),
      ).toEqual([[1, "To <be>, or not to <be>"]])
      expect(await owner.rows("select id from recent")).toEqual([[2], [1]])
      expect(await owner.rows("select tags, row_number() over (order by id) from posts")).toEqual([
        ["play", 1],
        [null, 2],
      ])
      expect(await owner.rows("select value from json_each('[1, 2]') where value > 1")).toEqual([
        [2],
      ])
      await owner.execute("insert into places values (1, 0, 1, 0, 1)")
      expect(await owner.rows("select id from places where x0 < 5")).toEqual([[1]])
      expect(await owner.rows('select count(*) from posts where body like "words%"')).toEqual([[1]])
      for (const sql of [
        "alter table posts rename to articles",
        "alter table articles rename column body to content",
        "alter table articles add column extra",
        "alter table articles drop column extra",
        "drop view recent",
        "analyze",
        "reindex",
        "insert into search (search) values ('integrity-check')",
        "pragma foreign_keys = on",
        "pragma user_version = 3",
        "insert into articles (id, content) values (1, 'x') on conflict (id) do update set content = excluded.content",
      ])
        expect([sql, await owner.execute(sql)]).toMatchObject([sql, {}])
      expect(await owner.rows("pragma user_version")).toEqual([[3]])
      expect(
        await owner.rows(
          "select strftime('%Y', 0, 'unixepoch'), upper('é'), round(2.5), iif(1, 2, 3)",
        ),
      ).toEqual([["1970", "é", 3, 2]])
    })
  })

  describe("a statement", () => {
    test.each([
      ["select 1;", [[1]]],
      ["select 1 ; -- the end", [[1]]],
      [" ;; /* first */ -- then\n select 1 /* ; select 2 */;;", [[1]]],
      ["select ';' || '--' || '/*'", [[";--/*"]]],
    ])("%s is one", async (sql, rows) => {
      expect(await databases.owner().rows(sql)).toEqual(rows)
    })

    test.each([
      ["", "it contains no statement"],
      [" ; -- nothing", "it contains no statement"],
      ["/* not ended", "it contains no statement"],
      ["select 1; select 2", "it contains more than one statement: use a batch"],
    ])("%p fails with our message", async (sql, message) => {
      expect(await databases.owner().execute(sql)).toEqual({ kind: "failed", message })
    })

    test.each([
      ["select 1 where 'a", `unrecognized token: "'a"`],
      ["selec 1", 'near "selec": syntax error'],
      ["select * from missing", "no such table: missing"],
      ["select abs(-9223372036854775808)", "integer overflow"],
      ["insert into missing default values", "no such table: missing"],
    ])("%p fails with SQLite's message and code", async (sql, message) => {
      expect(await databases.owner().execute(sql)).toEqual({
        kind: "failed",
        message,
        sqliteCode: "SQLITE_ERROR",
      })
    })
  })
})
