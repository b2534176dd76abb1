import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { openLibsql } from "../../../../test/support/database-homes.ts"
import {
  hasLibsql,
  type LibsqlProcess,
  startLibsql,
} from "../../../../test/support/processes/libsql-process.ts"
import { AppError } from "../../../domain/app-error.ts"

/** What the libSQL server responds to a pipeline; undefined for its own response. */
type Answer = (body: string) => Response | undefined

const megabyte = 1_048_576
const unexpected = {
  kind: "unavailable",
  message: "the libSQL server did not respond as expected",
} as const
const step = { cols: [], rows: [], affected_row_count: 0, last_insert_rowid: null }

describe.if(hasLibsql("LibsqlDatabases"))("LibsqlDatabases and responses of the server", () => {
  let server: LibsqlProcess
  let between: Bun.Server<undefined>
  let answer: Answer = () => undefined
  let requests = 0
  beforeAll(async () => {
    server = await startLibsql()
    between = Bun.serve({
      ...{ hostname: "127.0.0.1", port: 0, idleTimeout: 0 },
      async fetch(request) {
        requests += 1
        const body = await request.text()
        const own = answer(body)
        if (own) return own
        const { pathname } = new URL(request.url)
        const { method, headers } = request
        return fetch(server.options.url + pathname, { method, headers, body })
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
    await using databases = await open({ msMax: 20_000, limits: { retryMs: [] } })
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
    await using databases = await open({ limits: { retryMs: [] } })
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
    expect(error).toBeInstanceOf(AppError)
    answer = () => undefined
    expect(await owner.rows(sql)).toEqual([])
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
