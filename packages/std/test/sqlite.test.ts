import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { type FakeStorage, startFakeStorage } from "./support/fake-storage.ts"
import { type OnDeno, openDeno } from "./support/on-deno.ts"

const denoMsMax = 120_000
const result = { columns: [], columnTypes: [], rows: [], rowsAffected: 0, lastInsertRowid: null }

describe("std/sqlite, on Deno,", () => {
  let deno: OnDeno
  let storage: FakeStorage

  beforeAll(async () => {
    deno = await openDeno()
  })
  afterAll(() => deno[Symbol.asyncDispose]())
  beforeEach(() => {
    storage = startFakeStorage()
    storage.answer = () => Response.json(result)
  })
  afterEach(() => storage[Symbol.asyncDispose]())

  const run = (
    body: string,
    env: Record<string, string> = { HAMLET_URL: storage.url, HAMLET_TOKEN: "hush" },
  ) => deno.run(body, env)

  const statements: readonly (readonly [call: string, sent: unknown])[] = [
    ['"select 1"', "select 1"],
    ['"select ?", [1]', { sql: "select ?", args: [1] }],
    ['"select :a", { a: "é" }', { sql: "select :a", args: { a: "é" } }],
    ['{ sql: "select 1" }', { sql: "select 1", args: [] }],
    ['{ sql: "select ?", args: [null] }', { sql: "select ?", args: [null] }],
    ['"select ?, :a", [undefined]', { sql: "select ?, :a", args: [null] }],
    ['"select :a", { a: undefined }', { sql: "select :a", args: { a: null } }],
    ['["select ?", [true]]', { sql: "select ?", args: [1] }],
    ['["select 1"]', { sql: "select 1", args: [] }],
    [
      '"v", [new Uint8Array([0, 255]), new Uint8Array([7]).buffer]',
      { sql: "v", args: [{ base64: "AP8=" }, { base64: "Bw==" }] },
    ],
    [
      '"v", [5n, 2n ** 60n, new Date(7), false]',
      { sql: "v", args: [5, "1152921504606846976", 7, 0] },
    ],
    ['"v", { $b: new Uint8Array() }', { sql: "v", args: { $b: { base64: "" } } }],
  ]
  for (const [call, sent] of statements) {
    test(
      `execute(${call}) sends the body that the server expects`,
      async () => {
        expect(await run(`return await sqlite.execute(${call})`)).toEqual(result)
        expect(storage.seen).toMatchObject([
          {
            method: "POST",
            path: "/base/v1/sqlite/execute",
            authorization: "Bearer hush",
            type: "application/json",
          },
        ])
        expect(JSON.parse(storage.seen[0]?.body ?? "")).toEqual({ statement: sent })
      },
      denoMsMax,
    )
  }

  test(
    "execute sends large blobs whole",
    async () => {
      await run('await sqlite.execute("v", [new Uint8Array(300_000).fill(65)])')
      const { statement } = JSON.parse(storage.seen[0]?.body ?? "")
      expect(
        Buffer.from(statement.args[0].base64, "base64").equals(Buffer.alloc(300_000, 65)),
      ).toBe(true)
    },
    denoMsMax,
  )

  test(
    "batch sends statements of every kind, and the optional mode",
    async () => {
      storage.answer = () => Response.json([result, { ...result, rowsAffected: 2 }])
      const all = await run(
        'await sqlite.batch(["a", { sql: "b", args: [1] }]); return await sqlite.batch(["a", ["b", { c: 1 }]], "read")',
      )
      expect(all).toEqual([result, { ...result, rowsAffected: 2 }])
      expect(storage.seen.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
        ["/base/v1/sqlite/batch", { statements: ["a", { sql: "b", args: [1] }] }],
        [
          "/base/v1/sqlite/batch",
          { statements: ["a", { sql: "b", args: { c: 1 } }], mode: "read" },
        ],
      ])
    },
    denoMsMax,
  )

  test(
    "rows are objects with the names of their columns, and like arrays by index",
    async () => {
      const columns = ["id", "at", "id", "length", "0", "__proto__", "map"]
      const rows = [
        [1, "noon", 2, "long", "zero", "proto", "a map"],
        [3, null, 4, null, null, null, null],
      ]
      storage.answer = () =>
        Response.json({ ...result, columns, columnTypes: columns.map(() => ""), rows })
      const got = await run(`const { rows } = await sqlite.execute("select")
        const [[id, at], row] = rows
        return [id, at, row.id, rows[0].at, row.length, row[0], row[2], [...rows[0]], row.filter((value) => value !== null), { ...row }, rows, Deno.inspect(rows[0])]`)
      const [first, second] = [
        { id: 1, at: "noon", map: "a map" },
        { id: 3, at: null, map: null },
      ]
      expect(got).toEqual([
        1,
        "noon",
        3,
        "noon",
        7,
        3,
        4,
        rows[0],
        [3, 4],
        second,
        [first, second],
        '{ id: 1, at: "noon", map: "a map" }',
      ])
    },
    denoMsMax,
  )

  test(
    "transaction says what to use instead, and close does nothing",
    async () => {
      const body = 'sqlite.close(); return await sqlite.transaction("write")'
      expect(await run(body)).toMatchObject({
        failed: "LibsqlError",
        code: "TRANSACTION_UNSUPPORTED",
        message: expect.stringContaining("sqlite.batch()"),
      })
    },
    denoMsMax,
  )

  test(
    "fails with the message of the database",
    async () => {
      storage.answer = () =>
        Response.json({ code: "sql_failed", message: "no such table: x" }, { status: 400 })
      const failed = { failed: "LibsqlError", message: "no such table: x", code: "sql_failed" }
      const body = {
        code: "sql_failed",
        rawCode: "SQLITE_CONSTRAINT",
        message: "UNIQUE constraint failed: t.a",
      }
      expect(await run('return await sqlite.execute("select * from x")')).toEqual(failed)
      expect(await run('return await sqlite.batch(["select * from x"])')).toEqual(failed)
      expect(
        await run(
          'return await sqlite.execute("x").catch((it) => it instanceof modules.sqlite.LibsqlError)',
        ),
      ).toBe(true)
      storage.answer = () => Response.json(body, { status: 400 })
      // What vals look at that were written for Val Town.
      expect(
        await run('return await sqlite.execute("x").catch(({ code, rawCode }) => [code, rawCode])'),
      ).toEqual(["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT"])
      storage.answer = () => new Response("oh", { status: 502 })
      expect(await run('return await sqlite.execute("x")')).toEqual({
        failed: "LibsqlError",
        message: "Cannot use SQLite: the server answered 502",
      })
    },
    denoMsMax,
  )

  test(
    "refuses arguments that JSON would change, before anything is sent",
    async () => {
      for (const value of ["NaN", "-Infinity"])
        expect(await run(`return await sqlite.execute("select ?", [${value}])`)).toMatchObject({
          message: expect.stringContaining(`an argument is ${value}`),
        })
      expect(storage.seen).toEqual([])
    },
    denoMsMax,
  )

  test(
    "reports what is missing when storage is not available",
    async () => {
      expect(
        await run('return await sqlite.execute("select 1")', { HAMLET_URL: storage.url }),
      ).toEqual({
        failed: "LibsqlError",
        message: "Cannot use SQLite: this val runs on another user's account, which has no storage",
      })
      expect(await run("return await sqlite.batch([])", {})).toEqual({
        failed: "LibsqlError",
        message:
          "Cannot use SQLite: outside of a val, HAMLET_URL and HAMLET_TOKEN have to be in the environment",
      })
      expect(storage.seen).toEqual([])
    },
    denoMsMax,
  )

  test(
    "is also the default export, and uses the fetch of the time when it was loaded",
    async () => {
      const body =
        'globalThis.fetch = () => { throw new Error("mine") }; return [modules.sqlite.default === sqlite, await sqlite.execute("x")]'
      expect(await run(body)).toEqual([true, result])
    },
    denoMsMax,
  )
})
