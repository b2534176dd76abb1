import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { expectStatus, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeSqliteApi, refusalOf } from "./suite.ts"

const runsMax = 3
const requestsMax = 4
const response = "export default () => 42"
const hang = 'export default () => { console.log("here"); return new Promise(() => {}) }'

const usageOf = async ({ call }: ApiSuite, as: TestUser) =>
  expectStatus(await call("GET", "/v1/me/usage", { as }), 200).json

describeSqliteApi("GET /v1/me/usage", (suite) => {
  const { call, addUser: person, val } = suite

  test("has every key for a new user, and null where there is no limit", async () => {
    expect(await usageOf(suite, await person())).toEqual({
      countedSince: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      runs: { lastMinute: 0, sinceStart: 0, perMinuteMax: null, atOnce: 0, atOnceMax: 1024 },
      egress: { bytesLastMinute: 0, bytesSinceStart: 0, bytesPerMinuteMax: null },
      storage: { requestsLastMinute: 0, requestsSinceStart: 0, requestsPerMinuteMax: null },
      code: { vals: 0, bytes: 0 },
      blobs: { count: 0, bytes: 0, bytesMax: 1024 ** 3 },
      sqlite: suite.database.path === undefined ? null : { bytes: 0, bytesMax: 256 * 1024 ** 2 },
      mail: null,
    })
  })

  test("counts the bytes of code, of all branches and versions", async () => {
    const ada = await person()
    const codeOf = async () => (await usageOf(suite, ada)).code
    const { id } = await val(ada, { code: "12345", readme: "é" })
    expect(await codeOf()).toEqual({ vals: 1, bytes: 7 })
    expectStatus(
      await call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: "1234" } }),
      201,
    )
    const save = async (changes: readonly object[]) =>
      expectStatus(await call("POST", `/v1/vals/${id}/files`, { as: ada, body: { changes } }), 200)
    await save([{ path: "a/b.txt", content: "123" }])
    expect(await codeOf()).toEqual({ vals: 1, bytes: 14 })
    const branches = `/v2/vals/${id}/branches`
    const branch = await call("POST", branches, { as: ada, body: { name: "try" } })
    expect(await codeOf()).toEqual({ vals: 1, bytes: 14 + 2 + 4 + 3 })
    await save([{ path: "a", delete: true }])
    expectStatus(await call("PUT", `/v1/vals/${id}`, { as: ada, body: { type: "http" } }), 204)
    expect(await codeOf()).toEqual({ vals: 1, bytes: 23 + 4 })
    expectStatus(await call("DELETE", `/v1/vals/${id}/versions/1`, { as: ada }), 204)
    expect(await codeOf()).toEqual({ vals: 1, bytes: 27 - 5 })
    expectStatus(await call("DELETE", `${branches}/${branch.json.id}`, { as: ada }), 204)
    expect(await codeOf()).toEqual({ vals: 1, bytes: 22 - 9 })
    const forked = await call("POST", `/v1/vals/${id}/fork`, { as: ada, body: { name: "copy" } })
    expectStatus(forked, 201)
    expect(await codeOf()).toEqual({ vals: 2, bytes: 13 + 4 + 2 })
    expectStatus(await call("DELETE", `/v1/vals/${id}`, { as: ada }), 204)
    expect(await codeOf()).toEqual({ vals: 1, bytes: 6 })
  })

  test("counts runs on the account that they belong to", async () => {
    const [ada, bob] = [await person(), await person()]
    const { id } = await val(ada, { code: response })
    for (const as of [ada, bob, bob])
      expectStatus(await call("POST", `/v1/vals/${id}/runs`, { as }), 200)
    expect((await usageOf(suite, ada)).runs).toMatchObject({ lastMinute: 1, sinceStart: 1 })
    expect((await usageOf(suite, bob)).runs).toMatchObject({ lastMinute: 2, sinceStart: 2 })
  })

  test("counts running runs", async () => {
    const ada = await person()
    const { id } = await val(ada, { code: hang })
    const started = expectStatus(
      await call("POST", `/v1/vals/${id}/runs`, { as: ada, headers: { prefer: "respond-async" } }),
      202,
    ).json
    await waitUntil(async () => (await usageOf(suite, ada)).runs.atOnce === 1)
    expectStatus(await call("POST", `/v1/runs/${started.id}/cancel`, { as: ada }), 200)
    await waitUntil(
      async () => (await call("GET", `/v1/runs/${started.id}`, { as: ada })).json.runEndAt !== null,
    )
    expect((await usageOf(suite, ada)).runs.atOnce).toBe(0)
  })

  test("counts no runs that wait for others to end", async () => {
    const ada = await person()
    const quota = { as: suite.api.admin, body: { runsAtOnce: 1 } }
    expectStatus(await call("PUT", `/v1/users/${ada.id}/quotas`, quota), 200)
    const { id } = await val(ada, { code: hang })
    const path = `/v1/vals/${id}/runs`
    const headers = { prefer: "respond-async" }
    const ids: string[] = []
    for (let run = 0; run < 3; run++)
      ids.push(expectStatus(await call("POST", path, { as: ada, headers }), 202).json.id)
    const { runner } = suite.api.hamlet.parts
    await waitUntil(() => runner.status().waiting === 2)
    expect((await usageOf(suite, ada)).runs).toMatchObject({ atOnce: 1, atOnceMax: 1 })
    for (const id of ids) await call("POST", `/v1/runs/${id}/cancel`, { as: ada })
    await waitUntil(() => runner.status().waiting + runner.status().runs === 0)
  })

  test("counts requests to storage, and stored bytes", async () => {
    const ada = await person()
    expectStatus(await call("POST", "/v1/blob/a", { as: ada, body: "12345" }), 201)
    expectStatus(await call("POST", "/v1/blob/b", { as: ada, body: "é" }), 201)
    expectStatus(await call("POST", "/v1/blob/a", { as: ada, body: "1" }), 201)
    expectStatus(await call("GET", "/v1/blob/none", { as: ada }), 404)
    expectStatus(await call("GET", "/v1/me", { as: ada }), 200)
    expect(await usageOf(suite, ada)).toMatchObject({
      storage: { requestsLastMinute: 4, requestsSinceStart: 4 },
      blobs: { count: 2, bytes: 3 },
    })
  })

  test("has the size of the database", async () => {
    if (suite.database.path === undefined) return
    const ada = await person()
    expectStatus(
      await call("POST", "/v1/sqlite/execute", {
        as: ada,
        body: { statement: "create table t (a)" },
      }),
      200,
    )
    const { sqlite, storage } = await usageOf(suite, ada)
    expect(sqlite.bytes).toBeGreaterThan(0)
    expect(storage.requestsLastMinute).toBe(1)
  })

  test("resets the counts per minute, and keeps the others", async () => {
    const ada = await person()
    const { id } = await val(ada, { code: response })
    expectStatus(await call("POST", `/v1/vals/${id}/runs`, { as: ada }), 200)
    const now = Date.now()
    try {
      setSystemTime(new Date(now + 60_000))
      expect((await usageOf(suite, ada)).runs).toMatchObject({ lastMinute: 0, sinceStart: 1 })
    } finally {
      setSystemTime()
    }
  })
})

describeSqliteApi(
  "allowances",
  (suite) => {
    // Allowances refill with time, so it stands still unless a test sets it.
    beforeEach(() => void setSystemTime(new Date()))
    afterEach(() => void setSystemTime())
    describe("HAMLET_RUNS_PER_MINUTE", () => defineRuns(suite))
    describe("HAMLET_STORAGE_REQUESTS_PER_MINUTE", () => defineRequests(suite))
  },
  {
    HAMLET_RUNS_PER_MINUTE: String(runsMax),
    HAMLET_STORAGE_REQUESTS_PER_MINUTE: String(requestsMax),
    HAMLET_EGRESS_MB_PER_MINUTE: "5",
  },
)

function defineRuns(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite

  test("allows that many runs per account, and sends retry-after with the next", async () => {
    const [ada, bob] = [await person(), await person()]
    const { id, name } = await val(ada, { code: response })
    for (let count = 0; count < runsMax; count += 1)
      expectStatus(await call("POST", `/v1/vals/${id}/runs`, { as: bob }), 200)
    const refused = await call("POST", `/v1/vals/${id}/runs`, { as: bob })
    expect(refusalOf(refused)).toEqual([429, "rate_limited"])
    expect(refused.json.message).toStartWith(
      "Cannot run the val: the account has used up its runs for this minute; try again in ",
    )
    const seconds = Number(refused.headers.get("retry-after"))
    expect(seconds).toBeGreaterThanOrEqual(1)
    expect(seconds).toBeLessThanOrEqual(60 / runsMax)
    expect(refused.headers.get("x-should-retry")).toBeNull()
    expect(refusalOf(await call("GET", `/v1/run/${ada.username}.${name}`, { as: bob }))).toEqual([
      429,
      "rate_limited",
    ])
    // Nothing was begun, and the owner of the val has all of theirs.
    expect((await call("GET", "/v1/me/runs", { as: bob })).json.data).toHaveLength(runsMax)
    expectStatus(await call("GET", `/v1/run/${ada.username}.${name}`, { as: ada }), 200)
    expect((await usageOf(suite, bob)).runs).toMatchObject({
      lastMinute: runsMax,
      perMinuteMax: runsMax,
    })
  })

  test("allows the next run after retry-after seconds", async () => {
    const ada = await person()
    const { id } = await val(ada, { code: response })
    const start = Date.now()
    for (let count = 0; count < runsMax; count += 1)
      expectStatus(await call("POST", `/v1/vals/${id}/runs`, { as: ada }), 200)
    const seconds = Number(
      expectStatus(await call("POST", `/v1/vals/${id}/runs`, { as: ada }), 429).headers.get(
        "retry-after",
      ),
    )
    setSystemTime(new Date(start + seconds * 1000))
    expectStatus(await call("POST", `/v1/vals/${id}/runs`, { as: ada }), 200)
    expectStatus(await call("POST", `/v1/vals/${id}/runs`, { as: ada }), 429)
  })

  test("counts a replay like any other run", async () => {
    const ada = await person()
    const { id } = await val(ada, { code: response })
    const first = expectStatus(await call("POST", `/v1/vals/${id}/runs`, { as: ada }), 200).json
    for (let count = 1; count < runsMax; count += 1)
      expectStatus(await call("POST", `/v1/runs/${first.id}/replay`, { as: ada }), 200)
    expect(refusalOf(await call("POST", `/v1/runs/${first.id}/replay`, { as: ada }))).toEqual([
      429,
      "rate_limited",
    ])
  })
}

function defineRequests(suite: ApiSuite): void {
  const { call, addUser: person } = suite

  test("limits requests for blobs and SQLite together, failed ones included, and no others", async () => {
    const [ada, bob] = [await person(), await person()]
    expectStatus(await call("POST", "/v1/blob/a", { as: ada, body: "1" }), 201)
    expectStatus(await call("GET", "/v1/blob", { as: ada }), 200)
    expectStatus(await call("GET", "/v1/blob/none", { as: ada }), 404)
    await call("POST", "/v1/sqlite/execute", { as: ada, body: { statement: "select 1" } })
    for (const [method, path, body] of [
      ["GET", "/v1/blob/a", undefined],
      ["DELETE", "/v1/blob/a", undefined],
      ["POST", "/v1/blob/b", "1"],
      ["POST", "/v1/sqlite/batch", { statements: ["select 1"] }],
    ] as const) {
      const refused = await call(method, path, { as: ada, body })
      expect(refusalOf(refused)).toEqual([429, "rate_limited"])
      expect(refused.json.message).toContain("requests to them for this minute")
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
    }
    expectStatus(await call("GET", "/v1/blob", { as: bob }), 200)
    expectStatus(await call("GET", "/v1/me", { as: ada }), 200)
    expect(await usageOf(suite, ada)).toMatchObject({
      storage: { requestsLastMinute: requestsMax, requestsPerMinuteMax: requestsMax },
      egress: { bytesPerMinuteMax: 5 * 1024 ** 2 },
      blobs: { count: 1, bytes: 1 },
    })
  })

  test("does not count requests without a token or scope", async () => {
    const ada = await person()
    const scopes = ["user:write"]
    const weak = expectStatus(
      await call("POST", "/v1/me/tokens", { as: ada, body: { name: "weak", scopes } }),
      200,
    ).json
    for (let count = 0; count < requestsMax + 1; count += 1)
      expectStatus(await call("GET", "/v1/blob", { as: weak.token }), 403)
    expect((await usageOf(suite, ada)).storage.requestsLastMinute).toBe(0)
  })
}
