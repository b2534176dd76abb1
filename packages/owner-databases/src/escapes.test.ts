import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describeEachHome } from "./testing/database-homes.ts"
import type { TestHome, TestOwner } from "./testing/database-testing.ts"
import { allowedFunctions, allowedModules } from "./worker/allowed-sql.ts"

/**
 * Ways out of the database, or to what belongs to the connection, each with what the refusal says.
 * `{victim}` and `{folder}` are paths.
 */
const escapes: readonly (readonly [sql: string, refusal: RegExp])[] = [
  // Statements that open other databases.
  ["attach '{victim}' as other", /other databases and files are not available/],
  ["ATTACH DATABASE '{victim}' AS other", /other databases and files are not available/],
  [
    "AtTaCh/**/database/* ; */'{victim}'/**/as\n-- x\nother",
    /other databases and files are not available/,
  ],
  ["attach 'file:{victim}?mode=ro' as other", /other databases and files are not available/],
  [
    "attach 'file:{victim}?vfs=unix-none&immutable=1' as other",
    /other databases and files are not available/,
  ],
  ["attach ':memory:' as other", /other databases and files are not available/],
  ["attach '' as other", /other databases and files are not available/],
  ["attach (select '{victim}') as other", /other databases and files are not available/],
  ["; ; attach '{victim}' as other", /other databases and files are not available/],
  ["explain attach '{victim}' as other", /other databases and files are not available/],
  ["detach main", /not available/],
  ['select * from "{victim}".secrets', /no such table/],
  ["select * from other.secrets", /no such table/],
  // Files.
  ["vacuum into '{folder}/copy.db'", /other databases and files are not available/],
  ["VACUUM main INTO '{folder}/copy.db'", /other databases and files are not available/],
  ["vacuum", /other databases and files are not available/],
  ["select readfile('/etc/passwd')", /no such function/],
  ["select writefile('{folder}/x', 'x')", /no such function/],
  ["select edit('x', 'sh')", /no such function/],
  ["select * from fsdir('/')", /no such table/],
  ["select * from zipfile('x')", /no such table/],
  ["create virtual table c using csv(filename='/etc/passwd')", /virtual tables of csv/],
  [".open {victim}", /syntax error/],
  [".shell id", /syntax error/],
  ["pragma temp_store_directory = '/'", /pragma temp_store_directory is not available/],
  ["pragma data_store_directory = '/'", /pragma data_store_directory is not available/],
  // Code and memory.
  ["select load_extension('x')", /function load_extension/],
  ["select LOAD_EXTENSION('x', 'y')", /function load_extension/i],
  ["select \"load_extension\"('x')", /function load_extension/],
  ["select fts3_tokenizer('simple')", /function fts3_tokenizer/],
  ["select fts3_tokenizer('simple', x'4141414141414141')", /function fts3_tokenizer/],
  ["select hex(fts3_tokenizer('simple'))", /function fts3_tokenizer/],
  ["select fts5(null)", /function fts5/],
  ["create virtual table f using fts3(a)", /virtual tables of fts3/],
  ["create virtual table f using fts4(a)", /virtual tables of fts4/],
  ["select sqlite_log(1, 'x')", /function sqlite_log/],
  // How it is stored.
  ["pragma writable_schema = on", /pragma writable_schema/],
  ["PRAGMA main.writable_schema=1", /pragma writable_schema/],
  ["pragma/**/writable_schema/**/(1)", /pragma writable_schema/],
  ["update sqlite_master set sql = 'x'", /may not be modified/],
  [
    "insert into sqlite_schema values ('table', 'x', 'x', 2, 'create table x(a)')",
    /may not be modified/,
  ],
  ["delete from sqlite_master", /may not be modified/],
  ["select * from dbstat", /table dbstat/],
  ["select * from DBSTAT", /table dbstat/i],
  ["select * from sqlite_dbpage", /no such table/],
  ["insert into sqlite_dbpage values (1, x'00', 'main')", /no such table/],
  ["select * from sqlite_stmt", /no such table/],
  ["select * from bytecode('select 1')", /no such table/],
  ["pragma max_page_count = 1000000", /cannot be set/],
  ["pragma max_page_count(1000000)", /cannot be set/],
  ["pragma journal_mode = off", /cannot be set/],
  ["pragma journal_mode = memory", /cannot be set/],
  ["pragma page_size = 65536", /cannot be set/],
  ["pragma synchronous = off", /cannot be set/],
  ["pragma locking_mode = exclusive", /pragma locking_mode/],
  ["pragma mmap_size = 1000000000", /pragma mmap_size/],
  ["pragma cache_size = -10000000", /pragma cache_size/],
  ["pragma wal_autocheckpoint = 0", /pragma wal_autocheckpoint/],
  ["pragma wal_checkpoint(truncate)", /pragma wal_checkpoint/],
  ["pragma query_only = off", /pragma query_only/],
  ["pragma trusted_schema = on", /pragma trusted_schema/],
  ["pragma foreign_keys = off", /cannot be set/],
  ["pragma recursive_triggers = on", /cannot be set/],
  ["pragma schema_version = 5", /cannot be set/],
  ["pragma hard_heap_limit = 1", /pragma hard_heap_limit/],
  ["pragma threads = 8", /pragma threads/],
  ["pragma incremental_vacuum", /pragma incremental_vacuum/],
  ["pragma database_list", /pragma database_list/],
  ["select file from pragma_database_list", /table pragma_database_list/],
  ["select * from pragma_journal_mode('off')", /unknown database/],
  ["select * from pragma_max_page_count(9999999)", /unknown database/],
  ["select * from pragma_writable_schema", /pragma_writable_schema/],
  ["select * from pragma_lock_status", /pragma_lock_status/],
  // What outlives a request.
  ["begin", /use a batch/],
  ["begin exclusive", /use a batch/],
  ["commit", /use a batch/],
  ["end", /use a batch/],
  ["rollback", /use a batch/],
  ["savepoint s", /use a batch/],
  ["release s", /use a batch/],
  ["create temp table t (a)", /temporary/],
  ["create temporary view t as select 1", /temporary/],
  ["create table temp.t (a)", /temporary/],
  ["create view temp.t as select 1", /temporary/],
  ["create temp trigger t after insert on mine begin select 1; end", /temporary/],
  ["create table sqlite_mine (a)", /reserved/],
  ["create table mine_shadow (a); drop table mine", /more than one statement/],
  ["select 1; attach '{victim}' as other", /more than one statement/],
  ["select 1 -- \n; delete from mine", /more than one statement/],
  // Too much.
  ["select hex(zeroblob(1000000000))", /too big/],
  ["select randomblob(1000000000)", /too big/],
  ["select printf('%.*c', 1000000000, 'x')", /too big/],
  ["select replace(hex(zeroblob(8000000)), '0', 'xxxxxxxx')", /too big/],
  [
    "with recursive c(x) as (select 'x' union all select x || x from c) select max(length(x)) from c",
    /too big/,
  ],
  ["select 'x' like '{long}'", /too complex/],
  ["select {deep}", /Recursion limit/],
  ["select ?99999", /variable number must be between/],
  ["{compound}", /too many terms/],
  [
    "with recursive c(x) as (select 1 union all select x + 1 from c) select x, hex(zeroblob(50000)) from c",
    /larger than/,
  ],
]

/** A libSQL server has larger limits of its own for these. */
const allowedOnLibsql: ReadonlySet<string> = new Set([
  "select printf('%.*c', 1000000000, 'x')",
  "select 'x' like '{long}'",
])

describeEachHome("OwnerDatabases", (open, home) => {
  let databases: TestHome
  let victim: TestOwner
  let attacker: TestOwner
  let folder: string
  const listFiles = () => (home === "files" ? readdirSync(folder).sort() : [])

  beforeAll(async () => {
    databases = await open()
    folder = "folder" in databases ? String(databases.folder) : "/tmp"
    victim = databases.owner()
    attacker = databases.owner()
    await victim.execute("create table secrets (value text)")
    await victim.execute("insert into secrets values ('albatross')")
    await attacker.execute("create table mine (id integer primary key, value text)")
    await attacker.execute("insert into mine values (1, 'x')")
  })

  afterAll(() => databases[Symbol.asyncDispose]())

  describe("a statement of a user cannot", () => {
    test.each(escapes)("%s", async (sql, refusal) => {
      const files = listFiles()
      const text = sql
        .replaceAll("{victim}", join(folder, `${victim.id}.db`))
        .replaceAll("{folder}", folder)
        .replace("{long}", "%x".repeat(5_000))
        .replace("{deep}", `${"(".repeat(3_000)}1${")".repeat(3_000)}`)
        .replace("{compound}", "select 1 union ".repeat(1_000).concat("select 1"))
      const outcome = await attacker.execute(text)
      if (home === "files" || !allowedOnLibsql.has(sql)) {
        expect(outcome).toMatchObject({ kind: "failed", message: expect.stringMatching(refusal) })
        // Nor does it get further within a transaction.
        expect(await attacker.batch([text])).toMatchObject({ kind: "failed" })
      }
      expect(JSON.stringify(outcome)).not.toContain("albatross")
      expect(listFiles()).toEqual(files)
      expect(await attacker.rows("select * from mine")).toEqual([[1, "x"]])
    })

    test("leave anything behind for the next", async () => {
      expect(await attacker.rows("select name from sqlite_master")).toEqual([["mine"]])
      expect(await attacker.rows("select count(*) from sqlite_temp_master")).toEqual([[0]])
      for (const [pragma, value] of [
        ["journal_mode", "wal"],
        ["synchronous", 2],
        ["foreign_keys", 1],
        ["recursive_triggers", 0],
        // A libSQL server leaves room for the records of idempotent requests.
        ["max_page_count", home === "files" ? 4096 : 5120],
        ["page_size", 4096],
      ])
        expect(await attacker.rows(`pragma ${pragma}`)).toEqual([[value as string]])
      expect(await victim.rows("select * from secrets")).toEqual([["albatross"]])
    })
  })

  describe("views and triggers that were made in good time", () => {
    test("are refused what statements are refused, when they run", async () => {
      const owner = databases.owner()
      await owner.execute("create table t (a)")
      await owner.execute("create view v as select * from dbstat")
      await owner.execute(
        "create trigger tr after insert on t begin select load_extension('x'); end",
      )
      expect(await owner.execute("select * from v")).toMatchObject({ kind: "failed" })
      expect(await owner.execute("insert into t values (1)")).toMatchObject({ kind: "failed" })
      expect(await owner.rows("select count(*) from t")).toEqual([[0]])
    })

    test("do not trigger each other for ever", async () => {
      const owner = databases.owner()
      await owner.execute("create table a (x)")
      await owner.execute("create table b (x)")
      await owner.execute(
        "create trigger ab after insert on a begin insert into b values (new.x); end",
      )
      await owner.execute(
        "create trigger ba after insert on b begin insert into a values (new.x); end",
      )
      await owner.execute(
        "create trigger aa after insert on a begin insert into a values (new.x + 1); end",
      )
      const outcome = await owner.execute("insert into a values (1)")
      expect("rows" in outcome || outcome.kind === "failed").toBe(true)
      expect((await owner.rows("select count(*) < 10 from a"))[0]).toEqual([1])
    })
  })

  describe("a token that only reads cannot", () => {
    test.each([
      "insert into mine values (2, 'y')",
      "insert into mine values (2, 'y') returning id",
      "with new(id, value) as (values (2, 'y')) insert into mine select * from new returning *",
      "update mine set value = 'y'",
      "delete from mine",
      "replace into mine values (1, 'y')",
      "create table other (a)",
      "drop table mine",
      "alter table mine add column b",
      "create index i on mine (value)",
      "pragma user_version = 7",
      "analyze",
      "create virtual table f using fts5(a)",
      "explain delete from mine",
    ])("%s", async (sql) => {
      expect(await attacker.execute(sql, [], false)).toEqual({ kind: "write_refused" })
      expect(
        await attacker.run({ mode: "write", statements: [{ sql, args: [] }], canWrite: false }),
      ).toEqual({ kind: "write_refused" })
      expect(await attacker.batch([sql], "read")).toEqual({ kind: "write_refused" })
      expect(await attacker.rows("select * from mine")).toEqual([[1, "x"]])
      expect(await attacker.rows("pragma user_version")).toEqual([[0]])
    })

    test("be distinguished from one that writes by statements that read", async () => {
      for (const sql of [
        "select value from mine",
        "pragma table_info(mine)",
        "select * from pragma_table_info('mine')",
        "explain query plan select 1",
      ])
        expect(await attacker.execute(sql, [], false)).toMatchObject({ rowsAffected: 0 })
    })
  })
})

test("every function of this SQLite is allowed, or refused on purpose", () => {
  const db = new DatabaseSync(":memory:")
  const names = db.prepare("select distinct name from pragma_function_list").all() as {
    name: string
  }[]
  const refused = names
    .map(({ name }) => name)
    .filter((name) => !allowedFunctions.has(name) && !name.startsWith("geopoly_"))
  const expected = [
    "fts3_tokenizer",
    "fts5",
    "load_extension",
    "matchinfo",
    "offsets",
    "optimize",
    "rtreecheck",
    "rtreedepth",
    "rtreenode",
  ]
  expect(refused.sort()).toEqual([...expected, "sqlite_log"])
  const modules = db.prepare("select name from pragma_module_list").all() as { name: string }[]
  expect(
    modules
      .map(({ name }) => name)
      .filter((name) => !allowedModules.has(name))
      .sort(),
  ).toEqual(
    expect.arrayContaining(["dbstat", "fts3", "fts3tokenize", "fts4", "fts4aux", "geopoly"]),
  )
  db.close()
})
