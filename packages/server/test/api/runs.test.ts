import { describe, expect, test } from "bun:test"
import type { RunRecord } from "../../src/domain/runs/runs.ts"
import { expectStatus, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeApi, idsOf, once, refusalOf } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
const noon = Date.parse("2024-05-01T12:00:00.000Z")
const hour = 3_600_000
const failure = { name: "TypeError", message: "x is not a function", stack: "at 1:1" }

/** One run in every state and from every source, an hour apart. */
const kinds: readonly Partial<RunRecord>[] = [
  { source: "ui", status: "succeeded", lastLine: "100% of Hello_world" },
  { source: "api", status: "failed", error: failure },
  {
    source: "http",
    status: "timed_out",
    error: { name: "Error", message: "too slow" },
    request: { method: "GET", url: "http://x.hamlet.test/Greet?q=1", status: 504 },
  },
  { source: "interval", status: "crashed", error: { name: "Error", message: "gone" } },
  {
    source: "email",
    status: "cancelled",
    error: { name: "Cancelled", message: "The run was cancelled" },
  },
  { source: "http", status: "running", endedAt: null },
  { source: "api", status: "queued", endedAt: null },
]

describeApi("api/runs", (suite) => {
  describe("GET /v1/me/runs", () => defineMine(suite))
  describe("GET /v1/vals/{val_id}/runs", () => defineOfVal(suite))
  describe("GET /v1/runs/{run_id}", () => defineOne(suite))
  describe("the last run", () => defineLast(suite))
})

/**
 * Ada has run her val in every way. Gives how to ask for her runs: the answer is a list of places
 * in the table above.
 */
async function withRuns({ call, addUser: person, val, run }: ApiSuite) {
  const ada = await person()
  const ran = await val(ada)
  const runs: RunRecord[] = []
  for (const [index, kind] of kinds.entries())
    runs.push(await run(ran, { startedAt: noon + index * hour, ...kind }))
  const ids = runs.map(({ id }) => id)
  const ask = async (path: string, as: TestUser = ada) =>
    idsOf(await call("GET", path, { as })).map((id) => ids.indexOf(id))
  return { ada, ran, runs, ask }
}

const at = (hours: number) => encodeURIComponent(new Date(noon + hours * hour).toISOString())

/** What a list of runs shows of them for a query. */
const filters: readonly (readonly [query: string, places: readonly number[]])[] = [
  ["", [6, 5, 4, 3, 2, 1, 0]],
  ["error=true", [4, 3, 2, 1]],
  ["error=false", [6, 5, 0]],
  ["error=True", [4, 3, 2, 1]],
  ["error=0", [6, 5, 0]],
  ["source=http", [5, 2]],
  ["source=http,ui", [5, 2, 0]],
  ["source=http&source=ui", [5, 2, 0]],
  ["source=http,ui&source=email", [5, 4, 2, 0]],
  ["source=http&source=ui&source=email", [5, 4, 2, 0]],
  ["source=api,api", [6, 1]],
  ["source=ui,api,http,interval,email", [6, 5, 4, 3, 2, 1, 0]],
  ["error=true&source=http", [2]],
  ["error=false&source=http,ui", [5, 0]],
  ["error=true&source=email,http", [4, 2]],
  [`since=${at(4)}`, [6, 5]],
  [`until=${at(1)}`, [1, 0]],
  [`since=${at(0)}&until=${at(2)}`, [2, 1]],
  [`since=${at(3)}&until=${at(3)}`, []],
  [`since=${at(0)}&until=${at(6)}&source=http&error=true`, [2]],
  ["status=failed", [1]],
  ["status=queued,running", [6, 5]],
  ["status=succeeded&status=crashed", [3, 0]],
  ["status=timed_out,cancelled,crashed,failed", [4, 3, 2, 1]],
  ["status=succeeded&error=true", []],
  ["status=failed&source=http", []],
  [`status=failed,crashed&since=${at(2)}`, [3]],
  ["text=TOO%20SLOW", [2]],
  ["text=greet?q", [2]],
  ["text=not%20a%20function", [1]],
  ["text=hello_w", [0]],
  ["text=100%25", [0]],
  ["text=%25", [0]],
  ["text=hello%25world", []],
  ["text=o&status=succeeded,crashed", [3, 0]],
  ["text=o&limit=1&offset=1&status=succeeded,crashed", [0]],
  ["limit=2", [6, 5]],
  ["limit=2&offset=5", [1, 0]],
  ["limit=1&offset=1&source=http", [2]],
  ["offset=7", []],
]

const wrongQueries = [
  "error=2",
  "error=yes",
  "error=",
  "error=true&error=false",
  "source=cron",
  "source=",
  "source=http,",
  "source=HTTP",
  "status=done",
  "status=",
  "status=failed,",
  "text=",
  `text=${"x".repeat(201)}`,
]

function defineMine(suite: ApiSuite): void {
  const { call, addUser: person, sharedUser: anybody, val, run } = suite
  const shared = once(() => withRuns(suite))

  for (const [query, places] of filters) {
    test(`${query || "without a filter"} is ${places.length === 0 ? "nothing" : `the runs ${places}`}`, async () => {
      const { ask } = await shared()
      expect(await ask(`/v1/me/runs?${query}`)).toEqual([...places])
    })
  }

  for (const query of wrongQueries) {
    test(`refuses ${query}`, async () => {
      expect(refusalOf(await call("GET", `/v1/me/runs?${query}`, { as: await anybody() }))).toEqual(
        [400, "invalid_request"],
      )
    })
  }

  test("shows a run with every key", async () => {
    const { ada, ran, runs } = await withRuns(suite)
    const { json } = await call("GET", "/v1/me/runs", { as: ada })
    const mention = {
      id: ran.id,
      name: ran.name,
      version: 1,
      privacy: "public",
      public: true,
      author: ran.author,
      author_id: ada.id,
      username: ada.username,
    }
    const started = {
      file: { id: ran.id, path: "main.tsx" },
      branch: { id: ran.id, name: "main" },
    }
    expect(json.data[5]).toEqual({
      id: runs[1]?.id,
      parentId: null,
      source: "api",
      status: "failed",
      error: failure,
      val: mention,
      ...started,
      runStartAt: "2024-05-01T13:00:00.000Z",
      runEndAt: "2024-05-01T13:00:00.005Z",
      durationMs: 5,
      attempt: 1,
      request: null,
      mail: null,
      lastLine: null,
    })
    expect(json.data[1]).toEqual({
      id: runs[5]?.id,
      parentId: null,
      source: "http",
      status: "running",
      error: null,
      val: mention,
      ...started,
      runStartAt: "2024-05-01T17:00:00.000Z",
      runEndAt: null,
      durationMs: null,
      attempt: 1,
      request: null,
      mail: null,
      lastLine: null,
    })
  })

  test("has the runs on the caller's account, of any val, and no others", async () => {
    const [ada, bob] = [await person(), await person()]
    const hers = await val(ada)
    const byBob = await run(hers, { accountId: bob.id })
    const byAda = await run(hers)
    expect(idsOf(await call("GET", "/v1/me/runs", { as: bob }))).toEqual([byBob.id])
    expect(idsOf(await call("GET", "/v1/me/runs", { as: ada }))).toEqual([byAda.id])
  })

  test("keeps runs of an unlisted val, and leaves out runs of a private or deleted one", async () => {
    const [ada, bob] = [await person(), await person()]
    const hers = await val(ada)
    const { id } = await run(hers, { accountId: bob.id })
    const setPrivacy = async (privacy: string) =>
      expectStatus(await call("PUT", `/v1/vals/${hers.id}`, { as: ada, body: { privacy } }), 204)
    await setPrivacy("unlisted")
    expect(idsOf(await call("GET", "/v1/me/runs", { as: bob }))).toEqual([id])
    await setPrivacy("private")
    expect(idsOf(await call("GET", "/v1/me/runs", { as: bob }))).toEqual([])
    await setPrivacy("public")
    expect(idsOf(await call("GET", "/v1/me/runs", { as: bob }))).toEqual([id])
    expectStatus(await call("DELETE", `/v1/vals/${hers.id}`, { as: ada }), 204)
    expect(idsOf(await call("GET", "/v1/me/runs", { as: bob }))).toEqual([])
  })

  test("has the version that ran and the val's current name", async () => {
    const ada = await person()
    const ran = await val(ada, { name: "before" })
    await run(ran, { version: 1 })
    expectStatus(
      await call("POST", `/v1/vals/${ran.id}/versions`, {
        as: ada,
        body: { code: "2", name: "after" },
      }),
      201,
    )
    expect((await call("GET", "/v1/me/runs", { as: ada })).json.data[0].val).toMatchObject({
      version: 1,
      name: "after",
    })
  })
}

function defineOfVal(suite: ApiSuite): void {
  const { call, addUser: person, val, run } = suite
  const shared = once(() => withRuns(suite))

  for (const [query, places] of filters) {
    test(`${query || "without a filter"} is ${places.length === 0 ? "nothing" : `the runs ${places}`}`, async () => {
      const { ran, ask } = await shared()
      expect(await ask(`/v1/vals/${ran.id}/runs?${query}`)).toEqual([...places])
    })
  }

  for (const query of wrongQueries) {
    test(`refuses ${query}`, async () => {
      const { ada, ran } = await shared()
      expect(refusalOf(await call("GET", `/v1/vals/${ran.id}/runs?${query}`, { as: ada }))).toEqual(
        [400, "invalid_request"],
      )
    })
  }

  test("has every run for the val's owner, and only their own runs for others", async () => {
    const [ada, bob, eve] = [await person(), await person(), await person()]
    const hers = await val(ada)
    const [byAda, byBob] = [
      await run(hers, { startedAt: noon }),
      await run(hers, { startedAt: noon + 1, accountId: bob.id }),
    ]
    const other = await val(ada)
    await run(other)
    expect(idsOf(await call("GET", `/v1/vals/${hers.id}/runs`, { as: ada }))).toEqual([
      byBob.id,
      byAda.id,
    ])
    expect(idsOf(await call("GET", `/v1/vals/${hers.id}/runs`, { as: bob }))).toEqual([byBob.id])
    expect(idsOf(await call("GET", `/v1/vals/${hers.id}/runs`, { as: eve }))).toEqual([])
  })

  test("requires a token, and is 404 for a val that the caller cannot see", async () => {
    const [ada, bob] = [await person(), await person()]
    const [shown, hidden] = [await val(ada), await val(ada, { privacy: "private" })]
    expect(refusalOf(await call("GET", `/v1/vals/${shown.id}/runs`))).toEqual([
      401,
      "unauthenticated",
    ])
    expect(refusalOf(await call("GET", `/v1/vals/${hidden.id}/runs`, { as: bob }))).toEqual([
      404,
      "val_not_found",
    ])
    expect(refusalOf(await call("GET", `/v1/vals/${missing}/runs`, { as: bob }))).toEqual([
      404,
      "val_not_found",
    ])
    expect(refusalOf(await call("GET", "/v1/vals/1/runs", { as: bob }))).toEqual([
      400,
      "invalid_request",
    ])
  })
}

function defineOne(suite: ApiSuite): void {
  const { call, addUser: person, val, run } = suite
  const logs = [
    { at: "2024-05-01T12:00:00.001Z", level: "log" as const, message: "hello" },
    { at: "2024-05-01T12:00:00.002Z", level: "error" as const, message: "two\nlines 😀" },
  ]

  test("is the run as in a list, with its arguments, return value, logs and request", async () => {
    const ada = await person()
    const ran = await val(ada)
    const request = { method: "GET", url: "http://x.hamlet.test/", status: 200 }
    const response = {
      headers: [["content-type", "text/plain"]] as [string, string][],
      body: "hello",
      bytes: 5,
      isBinary: false,
      isTruncated: false,
    }
    const sent = {
      method: "GET",
      url: "https://a.test/",
      status: 200,
      blocked: null,
      bytesSent: 10,
      bytesReceived: 20,
      durationMs: 3,
    }
    const egress = {
      requests: 2,
      blocked: 1,
      bytesSent: 10,
      bytesReceived: 20,
      list: [{ ...sent, at: noon }],
    }
    const made = await run(ran, {
      parentId: missing,
      args: [1, { a: null }],
      returnValue: { deep: [true] },
      logs,
      logsTruncated: true,
      logGap: { after: 1, lines: 7 },
      lastLine: "the last line",
      request,
      response,
      egress,
    })
    const listed = (await call("GET", "/v1/me/runs", { as: ada })).json.data[0]
    const { json } = expectStatus(await call("GET", `/v1/runs/${made.id}`, { as: ada }), 200)
    expect(json).toEqual({
      ...listed,
      args: [1, { a: null }],
      returnValue: { deep: [true] },
      logs,
      logsTruncated: true,
      logsOmitted: { after: 1, lines: 7 },
      emails: [],
      email: null,
      request,
      lastLine: "the last line",
      requestContent: null,
      responseContent: response,
      egress: { ...egress, list: [{ ...sent, at: new Date(noon).toISOString() }] },
    })
    expect(json.parentId).toBe(missing)
    const shown = expectStatus(await call("GET", `/v1/runs/${made.id}/logs`, { as: ada }), 200).json
    const logsOmitted = { after: 1, lines: 7 }
    expect(shown).toEqual({ data: logs, logsTruncated: true, logsOmitted })
  })

  test("has every key also when values are missing", async () => {
    const ada = await person()
    const made = await run(await val(ada), {
      status: "running",
      endedAt: null,
      args: undefined,
      returnValue: undefined,
    })
    const { json } = await call("GET", `/v1/runs/${made.id}`, { as: ada })
    expect(json).toMatchObject({
      args: null,
      returnValue: null,
      logs: [],
      logsTruncated: false,
      emails: [],
      request: null,
      egress: null,
      runEndAt: null,
      mail: null,
      lastLine: null,
      logsOmitted: null,
      requestContent: null,
      responseContent: null,
    })
    expect((await call("GET", `/v1/runs/${made.id}/logs`, { as: ada })).json).toEqual({
      data: [],
      logsTruncated: false,
      logsOmitted: null,
    })
  })

  test("shows the progress of a run", async () => {
    const ada = await person()
    const ran = await val(ada)
    const made = await run(ran, { status: "running", endedAt: null, startedAt: noon })
    await run(ran, { ...made, status: "failed", endedAt: noon + 7, error: failure, logs })
    const { json } = await call("GET", `/v1/runs/${made.id}`, { as: ada })
    expect(json).toMatchObject({ status: "failed", durationMs: 7, error: failure, logs })
    expect(idsOf(await call("GET", "/v1/me/runs", { as: ada }))).toEqual([made.id])
  })

  for (const path of ["", "/logs"]) {
    test(`${path} is allowed to the val's owner, and to its caller while they can see the val`, async () => {
      const [ada, bob, eve] = [await person(), await person(), await person()]
      const hers = await val(ada)
      const { id } = await run(hers, { accountId: bob.id })
      for (const as of [ada, bob])
        expectStatus(await call("GET", `/v1/runs/${id}${path}`, { as }), 200)
      expect(refusalOf(await call("GET", `/v1/runs/${id}${path}`, { as: eve }))).toEqual([
        404,
        "run_not_found",
      ])
      expect(refusalOf(await call("GET", `/v1/runs/${id}${path}`))).toEqual([
        401,
        "unauthenticated",
      ])
      expectStatus(
        await call("PUT", `/v1/vals/${hers.id}`, { as: ada, body: { privacy: "private" } }),
        204,
      )
      expect(refusalOf(await call("GET", `/v1/runs/${id}${path}`, { as: bob }))).toEqual([
        404,
        "run_not_found",
      ])
      expectStatus(await call("GET", `/v1/runs/${id}${path}`, { as: ada }), 200)
    })

    test(`${path} is 404 for a missing run or a deleted val, and 400 for an invalid id`, async () => {
      const ada = await person()
      const ran = await val(ada)
      const { id } = await run(ran)
      expectStatus(await call("DELETE", `/v1/vals/${ran.id}`, { as: ada }), 204)
      expect(refusalOf(await call("GET", `/v1/runs/${id}${path}`, { as: ada }))).toEqual([
        404,
        "run_not_found",
      ])
      expect(refusalOf(await call("GET", `/v1/runs/${missing}${path}`, { as: ada }))).toEqual([
        404,
        "run_not_found",
      ])
      expect(refusalOf(await call("GET", `/v1/runs/last${path}`, { as: ada }))).toEqual([
        400,
        "invalid_request",
      ])
    })
  }
}

function defineLast(suite: ApiSuite): void {
  const { call, addUser: person, val, run } = suite

  test("is shown by the val and by the version that ran", async () => {
    const ada = await person()
    const ran = await val(ada)
    expectStatus(
      await call("POST", `/v1/vals/${ran.id}/versions`, { as: ada, body: { code: "2" } }),
      201,
    )
    await run(ran, { version: 1, startedAt: noon, endedAt: noon + 5 })
    await run(ran, { version: 2, startedAt: noon + hour, endedAt: null, status: "running" })
    // One that began before the last and is written down after it.
    await run(ran, { version: 1, startedAt: noon - hour, endedAt: noon - hour + 1 })
    const first = { runStartAt: "2024-05-01T12:00:00.000Z", runEndAt: "2024-05-01T12:00:00.005Z" }
    const last = { runStartAt: "2024-05-01T13:00:00.000Z", runEndAt: null }
    expect((await call("GET", `/v1/vals/${ran.id}`)).json).toMatchObject(last)
    expect((await call("GET", `/v1/vals/${ran.id}/versions`)).json.data).toMatchObject([
      last,
      first,
    ])
    expect((await call("GET", `/v1/users/${ada.id}/vals`)).json.data).toMatchObject([last])
  })

  test("changes only runStartAt and runEndAt of the val", async () => {
    const ran = await val(await person())
    await run(ran, { startedAt: noon, endedAt: noon + 1 })
    const { json } = await call("GET", `/v1/vals/${ran.id}`)
    expect(json).toEqual({
      ...ran,
      runStartAt: "2024-05-01T12:00:00.000Z",
      runEndAt: "2024-05-01T12:00:00.001Z",
    })
  })
}
