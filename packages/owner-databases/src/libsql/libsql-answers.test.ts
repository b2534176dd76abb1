import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Refused } from "@hamlet/kit"
import { libsqlBackoff } from "../database-limits.ts"
import { openLibsql } from "../testing/database-homes.ts"
import { sendOnce } from "../testing/database-testing.ts"
import { hasLibsql, type LibsqlProcess, startLibsql } from "../testing/libsql-process.ts"

/** What the libSQL server responds to a pipeline; undefined for its own response. */
type Answer = (body: string) => Response | undefined

const megabyte = 1_048_576
const unexpected = {
  kind: "unavailable",
  message: "the libSQL server did not respond as expected",
} as const
const once = { ...libsqlBackoff, attemptsMax: 1 }
const step = { cols: [], rows: [], affected_row_count: 0, last_insert_rowid: null }

describe.if(hasLibsql("LibsqlDatabases"))("LibsqlDatabases and responses of the server", () => {
  let server: LibsqlProcess
  let between: Bun.Server<undefined>
  let answer: Answer = () => undefined
  /** Whether the response to a pipeline is lost. */
  let isLost = (_body: string) => false
  let requests = 0
  beforeAll(async () => {
    server = await startLibsql()
    between = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      async fetch(request) {
        requests += 1
        const body = await request.text()
        const own = answer(body)
        if (own) return own
        const { pathname } = new URL(request.url)
        const { method, headers } = request
        const response = await fetch(server.options.url + pathname, { method, headers, body })
        return isLost(body) ? new Response("<html>") : response
      },
    })
  })
  afterAll(async () => {
    await between.stop(true)
    await server[Symbol.asyncDispose]()
  })
  const open = (options: Parameters<typeof openLibsql>[1]) => {
    const url = `http://127.0.0.1:${between.port}`
    return openLibsql({ ...server, options: { ...server.options, url } }, options)
  }

  test("takes whatever it responds as an error, and goes on when it is well again", async () => {
    await using databases = await open({ msMax: 20_000, limits: { backoff: once } })
    const known = databases.owner()
    await known.execute("create table t (a)")
    await known.execute("insert into t values (1)")
    const read = "select a from t"
    for (let count = 0; count < 2; count++) expect(await known.rows(read)).toEqual([[1]])
    for (const [name, respond] of Object.entries(wrongAnswers)) {
      answer = respond
      // The first is sent without a worker; the other one asks for the tables.
      const outcomes = [await known.execute(read), await databases.owner().execute(read)]
      answer = () => undefined
      for (const outcome of outcomes)
        expect([name, outcome]).toEqual([name, expect.objectContaining({ kind: "unavailable" })])
      expect(await known.rows(read)).toEqual([[1]])
    }
  })

  test("refuses rows that are none, and results that are too large", async () => {
    await using databases = await open({ limits: { backoff: once } })
    const owner = databases.owner()
    await owner.execute("create table t (a)")
    const sql = "select a from t"
    const respond = (result: object, more = {}) => {
      answer = (body) => (body.includes("schema_version <>") ? toBatch(result, more) : undefined)
      return owner.execute(sql)
    }
    for (const rows of [
      [[{ type: "integer", value: "x" }]],
      [[{ type: "strange" }]],
      [[null]],
      [null],
      "x",
    ])
      expect([rows, await respond({ rows })]).toEqual([rows, unexpected])
    expect(await respond({ affected_row_count: "1,2" })).toEqual(unexpected)
    expect(await respond({ cols: null })).toEqual(unexpected)
    expect(await respond({}, { step_errors: null })).toEqual(unexpected)
    // By a worker, since it is large.
    const many = Array.from({ length: 200_000 }, () => [{ type: "integer", value: "1" }])
    expect(await respond({ rows: many })).toMatchObject({ rowsAffected: 0 })
    const long = [[{ type: "text", value: "a".repeat(9 * megabyte) }]]
    const tooLarge = { kind: "failed", message: "the result is larger than 8388608 bytes" }
    expect(await respond({ rows: long })).toMatchObject(tooLarge)
    answer = (body) => (body.includes("schema_version <>") ? new Response(pour()) : undefined)
    expect(await owner.execute(sql)).toMatchObject(tooLarge)
    // The registry has the sizes, which this process reads.
    answer = (body) => (body.includes("from databases") ? new Response("[]") : undefined)
    const error = await databases.pool.sizeOf(owner.id).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Refused)
    answer = () => undefined
    expect(await owner.rows(sql)).toEqual([])
  })

  test("finds out whether an idempotent request was done when the response is lost", async () => {
    await using databases = await open({ limits: { backoff: once } })
    const owner = databases.owner()
    await owner.execute("create table t (a)")
    const insert = "insert into t values (1) returning a"
    const count = () => owner.rows("select count(*) from t")
    isLost = (body) => body.includes("insert into _hamlet_requests")
    const done = { rows: [[1]], rowsAffected: 1 }
    expect(await sendOnce(owner, "asked", insert)).toMatchObject(done)
    // Nor can it be asked.
    isLost = (body) => body.includes("_hamlet_requests")
    expect(await sendOnce(owner, "not asked", insert)).toEqual(unexpected)
    isLost = () => false
    expect(await count()).toEqual([[2]])
    for (const hash of ["asked", "not asked"])
      expect(await sendOnce(owner, hash, insert)).toMatchObject(done)
    expect(await count()).toEqual([[2]])
  })

  test("waits for a response only as long as a statement may take", async () => {
    await using databases = await open({ msMax: 300 })
    const owner = databases.owner()
    const late = { kind: "failed", message: "interrupted: it took longer than 0.3 s" } as const
    for (const respond of [
      () => new Response(drip()),
      () => new Response(drip(), { status: 500 }),
    ]) {
      answer = respond
      expect(await owner.execute("select 1")).toEqual(late)
    }
    answer = () => undefined
  })

  test("sends reads that wait together, and each has its own result or error", async () => {
    await using databases = await open({ limits: { quickMsMax: Number.POSITIVE_INFINITY } })
    const owner = databases.owner()
    await owner.execute("create table t (a, b)")
    const rows = Array.from({ length: 60 }, (_, a) => ({
      sql: "insert into t values (?, ?)",
      args: [a, `row ${a}`],
    }))
    await owner.batch(rows)
    const one = "select b from t where a = :a"
    const two = ["select count(*) from t", "select abs(a) from t where b = ?"]
    const readTwo = (b: string) =>
      owner.batch([`${two[0]}`, { sql: `${two[1]}`, args: [b] }], "read")
    const overflow = "select abs(?)"
    for (let count = 0; count < 2; count++) {
      await owner.execute(one, { a: 1 })
      await owner.execute(overflow, [1])
      await readTwo("row 1")
    }
    requests = 0
    const read = (a: number) => owner.rows(one, { a })
    const results = await Promise.all(Array.from({ length: 60 }, (_, a) => read(a)))
    expect(results).toEqual(rows.map(({ args }) => [[`${args[1]}`]]))
    expect(requests).toBeLessThan(30)
    const toTwo = (a: number) => [
      expect.objectContaining({ rowsAffected: 0 }),
      expect.objectContaining({ rows: [[a]] }),
    ]
    const pairs = await Promise.all(Array.from({ length: 20 }, (_, a) => readTwo(`row ${a}`)))
    expect(pairs).toEqual(pairs.map((_, a) => toTwo(a)))
    await owner.execute("insert into t values (?, ?)", [99, "row 99"])
    const mixed = await Promise.all([
      ...Array.from({ length: 10 }, (_, a) => owner.execute(one, { a })),
      owner.execute(overflow, ["-9223372036854775808"]),
      owner.execute("select abs(-9223372036854775808)"),
      readTwo("row 7"),
      owner.execute(one, []),
      owner.execute("insert into t values (?, ?)", [1, 2], false),
      owner.execute("insert into t values (?, ?)", [100, "row 100"]),
      ...Array.from({ length: 10 }, (_, a) => owner.execute(one, { a })),
    ])
    const single = (a: number) => expect.objectContaining({ rows: [[`row ${a}`]] })
    const tens = Array.from({ length: 10 }, (_, a) => single(a))
    expect(mixed).toEqual([
      ...tens,
      expect.objectContaining({ rows: [[2 ** 63]] }),
      expect.objectContaining({ kind: "failed", message: "integer overflow" }),
      toTwo(7),
      expect.objectContaining({ message: "it has 1 parameters, and there are 0 arguments" }),
      { kind: "write_refused" },
      expect.objectContaining({ rowsAffected: 1 }),
      ...tens,
    ])
  })

  describe("changes that wait", () => {
    const insert = "insert into t (a) values (?)"
    const quick = { quickMsMax: Number.POSITIVE_INFINITY, backoff: once }
    const isCommit = (body: string) => body.includes(insert)

    /** A database whose table is known, and in which an insert was quick. */
    async function prepare(databases: Awaited<ReturnType<typeof open>>) {
      const owner = databases.owner()
      await owner.execute("create table t (id integer primary key, a unique)")
      for (const a of [-1, -2]) await owner.execute(insert, [a])
      return owner
    }

    test("are committed together, and each has its own result", async () => {
      await using databases = await open({ limits: quick })
      const owner = await prepare(databases)
      requests = 0
      const insertAll = Array.from({ length: 60 }, (_, a) => owner.execute(insert, [a]))
      const results = await Promise.all(insertAll)
      expect(requests).toBeLessThan(20)
      const ids = results.map((result) =>
        "lastInsertRowid" in result ? result.lastInsertRowid : 0,
      )
      expect(new Set(ids).size).toBe(60)
      const stored = await owner.rows("select id from t where a >= 0 order by a")
      expect(stored).toEqual(ids.map((id) => [Number(id)]))
    })

    test("fail only where they would fail alone", async () => {
      await using databases = await open({ limits: quick })
      const owner = await prepare(databases)
      const values = [1, 2, 3, 1, 4, 5, 5, 6, 7, 8]
      const results = await Promise.all(values.map((a) => owner.execute(insert, [a])))
      const failed = results.filter((result) => "kind" in result)
      expect(failed).toMatchObject([
        { kind: "failed", message: "UNIQUE constraint failed: t.a" },
        { kind: "failed", message: "UNIQUE constraint failed: t.a" },
      ])
      expect(await owner.rows("select count(*) from t")).toEqual([[10]])
    })

    test("are not made again when nobody knows whether they were made", async () => {
      await using databases = await open({ limits: quick })
      const owner = await prepare(databases)
      let commits = 0
      // The first is sent at once, and the others wait for it.
      const first = owner.execute(insert, [100])
      const others = Array.from({ length: 8 }, (_, a) => owner.execute(insert, [a]))
      await first
      answer = (body) => {
        if (!isCommit(body)) return undefined
        commits += 1
        return new Response("<html>")
      }
      const results = await Promise.all(others)
      answer = () => undefined
      expect(results).toEqual(results.map(() => unexpected))
      expect(commits).toBe(1)
    })

    test("are made one by one where foreign keys are checked at the end", async () => {
      await using databases = await open({ limits: quick })
      const owner = databases.owner()
      const put = (id: number, parent: number) =>
        owner.execute("insert into t values (?, ?)", [id, parent])
      const key = "references t (id) deferrable initially deferred"
      await owner.execute(`create table t (id integer primary key, parent integer ${key})`)
      for (const id of [1, 2]) await put(id, id)
      // Two of them would allow each other if they were committed together.
      const results = await Promise.all([put(3, 3), put(50, 60), put(60, 50), put(4, 4)])
      expect(results.map((result) => "kind" in result)).toEqual([false, true, true, false])
    })

    test("are refused by the size of the database one by one", async () => {
      const long = (a: number) => [`${a}${"x".repeat(20_000)}`]
      const values = Array.from({ length: 20 }, (_, a) => long(a))
      const results: (readonly unknown[])[] = []
      for (const isTogether of [false, true]) {
        await using databases = await open({ bytesMax: 300_000, limits: quick })
        const owner = await prepare(databases)
        const insertLong = (value: string[]) => owner.execute(insert, value)
        const outcomes: Awaited<ReturnType<typeof insertLong>>[] = []
        if (isTogether) outcomes.push(...(await Promise.all(values.map(insertLong))))
        else for (const value of values) outcomes.push(await insertLong(value))
        const kinds = outcomes.map((outcome) => ("kind" in outcome ? outcome.kind : "done"))
        results.push(kinds.sort(), await owner.rows("select count(*) from t"))
      }
      expect(results.slice(2)).toEqual(results.slice(0, 2))
      expect(new Set(results[0])).toEqual(new Set(["done", "full"]))
    })
  })
})

const wrongAnswers: Readonly<Record<string, Answer>> = {
  "a page": () => new Response("<html>"),
  nothing: () => new Response(""),
  null: () => new Response("null"),
  "a list": () => new Response("[]"),
  "no results": () => Response.json({ baton: null, results: null }),
  "no result": () => Response.json({ baton: null, results: [] }),
  "null as a result": () => Response.json({ results: [null, null, null, null] }),
  "empty results": () => Response.json({ results: Array(4).fill({ type: "ok" }) }),
  "nested lists": () => new Response("[".repeat(30_000)),
  "a version that is none": () =>
    Response.json({
      results: Array(4).fill({
        type: "ok",
        response: { result: { rows: [[{ type: "text", value: "x" }]] } },
      }),
    }),
  "an error": () => new Response("no", { status: 500 }),
  "an error without an end": () => new Response(pour(), { status: 500 }),
  "another address": () => Response.redirect("http://127.0.0.1:1/", 307),
  "a key that is refused": () => new Response("no", { status: 401 }),
}

function toBatch(result: object, more: object): Response {
  const results = [step, step, { ...step, ...result }, step]
  const response = {
    result: { step_results: results, step_errors: [null, null, null, null], ...more },
  }
  return Response.json({ baton: null, results: [{ type: "ok", response }] })
}

/** A body without an end. */
function pour(): ReadableStream<Uint8Array> {
  const part = new Uint8Array(megabyte).fill(32)
  return new ReadableStream({ pull: (controller) => controller.enqueue(part) })
}

/** A body that begins and never ends. */
function drip(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([91])) })
}
