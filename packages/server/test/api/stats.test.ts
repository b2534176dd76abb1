import { describe, expect, test } from "bun:test"
import type { RunRecord } from "../../src/domain/runs/runs.ts"
import { expectStatus, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeApi, idsOf, refusalOf } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
const noon = Date.parse("2024-05-01T12:00:00.000Z")
const minute = 60_000
const day = 24 * 60 * minute
const at = (ms: number) => new Date(ms).toISOString()
const nothing = { runs: 0, errors: 0, p50Ms: null, p95Ms: null }

describeApi("api/stats", (suite) => {
  describe("GET /v1/me/stats", () => defineMine(suite))
  describe("GET /v1/vals/{val_id}/stats", () => defineOfVal(suite))
  describe("GET /v1/me/activity", () => defineActivity(suite))
  describe("GET /v1/me/runs?val_id=", () => defineRuns(suite))
})

async function get({ call }: ApiSuite, path: string, as: TestUser) {
  return expectStatus(await call("GET", path, { as }), 200).json
}

function defineMine(suite: ApiSuite) {
  const { call, addUser: person, val, run } = suite

  test("counts runs, errors and durations in buckets", async () => {
    const ada = await person()
    const ran = await val(ada)
    const kinds: readonly Partial<RunRecord>[] = [
      { startedAt: noon, status: "succeeded" },
      { startedAt: noon + 1, endedAt: noon + 11, status: "failed" },
      { startedAt: noon + minute, endedAt: noon + minute + 30, status: "timed_out" },
      { startedAt: noon + minute + 1, endedAt: null, status: "running" },
      { startedAt: noon + 2 * minute, endedAt: noon + 2 * minute + 7, status: "crashed" },
      { startedAt: noon + 2 * minute + 1, status: "succeeded" },
    ]
    for (const kind of kinds) await run(ran, kind)
    expect(
      await get(
        suite,
        `/v1/me/stats?since=${at(noon)}&until=${at(noon + 2 * minute)}&buckets=2`,
        ada,
      ),
    ).toEqual({
      since: at(noon),
      until: at(noon + 2 * minute),
      bucketMs: minute,
      buckets: [
        { at: at(noon), runs: 2, errors: 2, p50Ms: 10, p95Ms: 30 },
        { at: at(noon + minute), runs: 2, errors: 1, p50Ms: 7, p95Ms: 7 },
      ],
      total: { runs: 4, errors: 3, p50Ms: 10, p95Ms: 30 },
      isPartial: false,
    })
  })

  test("covers the last day in 48 buckets by default, and is empty for a user without runs", async () => {
    const before = Date.now()
    const { since, until, buckets, ...rest } = await get(suite, "/v1/me/stats", await person())
    expect(rest).toEqual({ bucketMs: day / 48, total: nothing, isPartial: false })
    expect(Date.parse(until)).toBeWithin(before, Date.now() + 1)
    expect(Date.parse(until) - Date.parse(since)).toBe(day)
    expect(buckets).toEqual(
      Array.from({ length: 48 }, (_, index) => ({
        at: at(Date.parse(since) + index * (day / 48)),
        ...nothing,
      })),
    )
  })

  test("counts a run that has just ended", async () => {
    const ada = await person()
    await run(await val(ada), { startedAt: Date.now() - 1 })
    expect((await get(suite, "/v1/me/stats?buckets=1", ada)).total.runs).toBe(1)
  })

  test("excludes vals that are hidden from the caller or deleted", async () => {
    const [ada, bob] = [await person(), await person()]
    const [open, closed, gone] = [await val(ada), await val(ada), await val(bob)]
    for (const ran of [open, closed, gone]) await run(ran, { accountId: bob.id, startedAt: noon })
    const ask = async (as: TestUser) =>
      (await get(suite, `/v1/me/stats?until=${at(noon)}`, as)).total.runs
    expect(await ask(bob)).toBe(3)
    expectStatus(
      await call("PUT", `/v1/vals/${closed.id}`, { as: ada, body: { privacy: "private" } }),
      204,
    )
    expectStatus(await call("DELETE", `/v1/vals/${gone.id}`, { as: bob }), 204)
    expect(await ask(bob)).toBe(1)
    expect(await ask(ada)).toBe(0)
  })

  test.each(["buckets=0", "buckets=201", "buckets=1.5", "since=yesterday", "until=2024-05-32"])(
    "refuses ?%s",
    async (query) => {
      expect(
        refusalOf(await call("GET", `/v1/me/stats?${query}`, { as: await suite.sharedUser() })),
      ).toEqual([400, "invalid_request"])
    },
  )

  test.each([
    ["since=0000-01-01T00:00:00Z&until=9999-12-31T23:59:59.999Z&buckets=200", 200],
    ["until=0000-01-01T00:00:00.001Z", 1],
    ["until=0000-01-01T00:00:00Z", 0],
    ["since=9999-12-31T23:59:59.999Z", 0],
    [`since=${at(noon)}&until=${at(noon)}`, 0],
    [`since=${at(noon)}&until=${at(noon - minute)}&buckets=1`, 0],
    [`since=${at(noon)}&until=${at(noon + 10)}&buckets=200`, 10],
    [`since=${at(noon)}&until=${at(noon + 10)}&buckets=4`, 4],
    [`since=${at(noon)}&until=${at(noon + 10)}&buckets=6`, 5],
  ])("for ?%s has %i buckets", async (query, count) => {
    expect(
      (await get(suite, `/v1/me/stats?${query}`, await suite.sharedUser())).buckets,
    ).toHaveLength(count)
  })
}

function defineOfVal(suite: ApiSuite) {
  const { call, addUser: person, val, run } = suite
  const period = `since=${at(noon - 1)}&until=${at(noon + minute)}&buckets=1`

  test("counts every run for the owner, and only their own runs for others", async () => {
    const [ada, bob, eve] = [await person(), await person(), await person()]
    const [ran, other] = [await val(ada), await val(ada)]
    await run(ran, { startedAt: noon })
    await run(ran, { startedAt: noon, accountId: bob.id, status: "failed" })
    await run(other, { startedAt: noon })
    const ask = async (as: TestUser) =>
      (await get(suite, `/v1/vals/${ran.id}/stats?${period}`, as)).total
    expect(await ask(ada)).toEqual({ runs: 2, errors: 1, p50Ms: 5, p95Ms: 5 })
    expect(await ask(bob)).toEqual({ runs: 1, errors: 1, p50Ms: 5, p95Ms: 5 })
    expect(await ask(eve)).toEqual(nothing)
  })

  test("gets the same error for a hidden val as for a missing one", async () => {
    const [ada, bob] = [await person(), await person()]
    const hidden = await val(ada, { privacy: "private" })
    await run(hidden, { accountId: bob.id, startedAt: noon })
    for (const id of [hidden.id, missing])
      expect(refusalOf(await call("GET", `/v1/vals/${id}/stats`, { as: bob }))).toEqual([
        404,
        "val_not_found",
      ])
    expect(refusalOf(await call("GET", `/v1/vals/${hidden.id}/stats`))).toEqual([
      401,
      "unauthenticated",
    ])
    expect(refusalOf(await call("GET", "/v1/vals/nonsense/stats", { as: bob }))).toEqual([
      400,
      "invalid_request",
    ])
    expect(
      (await get(suite, `/v1/vals/${hidden.id.toUpperCase()}/stats?${period}`, ada)).total.runs,
    ).toBe(1)
  })
}

function defineActivity(suite: ApiSuite) {
  const { call, addUser: person, val, run } = suite

  test("has the caller's vals that have run, in buckets, latest run first", async () => {
    const [ada, bob] = [await person(), await person()]
    const [first, second, silent, others] = [
      await val(ada),
      await val(ada),
      await val(ada),
      await val(bob),
    ]
    const now = Date.now()
    await run(first, { startedAt: now - 90 * minute, status: "failed" })
    await run(first, { startedAt: now - 10 * minute })
    const last = await run(second, { startedAt: now - 5 * minute, status: "timed_out" })
    await run(silent, { startedAt: now - 121 * minute })
    await run(others, { startedAt: now - minute, accountId: ada.id })
    await run(first, { startedAt: now - minute, accountId: bob.id })
    const { since, until, ...rest } = await get(suite, "/v1/me/activity?hours=2&buckets=2", ada)
    expect(Date.parse(until) - Date.parse(since)).toBe(120 * minute)
    expect(rest).toEqual({
      bucketMs: 60 * minute,
      isPartial: false,
      data: [
        {
          valId: second.id,
          runs: [0, 1],
          errors: [0, 1],
          lastRunAt: at(last.startedAt),
          lastStatus: "timed_out",
          lastRunId: last.id,
          lastRequest: null,
        },
        {
          valId: first.id,
          runs: [1, 1],
          errors: [1, 0],
          lastRunAt: at(now - 10 * minute),
          lastStatus: "succeeded",
          lastRunId: expect.any(String),
          lastRequest: null,
        },
      ],
    })
  })

  test("covers the last day in 24 buckets by default", async () => {
    const { since, until, ...rest } = await get(suite, "/v1/me/activity", await person())
    expect(Date.parse(until) - Date.parse(since)).toBe(day)
    expect(rest).toEqual({ bucketMs: 60 * minute, data: [], isPartial: false })
  })

  test("leaves out a deleted val", async () => {
    const ada = await person()
    const gone = await val(ada)
    await run(gone)
    expect((await get(suite, "/v1/me/activity", ada)).data).toHaveLength(1)
    expectStatus(await call("DELETE", `/v1/vals/${gone.id}`, { as: ada }), 204)
    expect((await get(suite, "/v1/me/activity", ada)).data).toEqual([])
  })

  test.each(["hours=0", "hours=721", "hours=x", "buckets=0", "buckets=61"])(
    "refuses ?%s",
    async (query) => {
      expect(
        refusalOf(await call("GET", `/v1/me/activity?${query}`, { as: await suite.sharedUser() })),
      ).toEqual([400, "invalid_request"])
    },
  )
}

function defineRuns(suite: ApiSuite) {
  const { call, addUser: person, val, run } = suite

  test("lists the runs of that val on the caller's account, with every filter", async () => {
    const [ada, bob] = [await person(), await person()]
    const [mine, other] = [await val(ada), await val(ada)]
    const first = await run(mine, {
      startedAt: noon,
      status: "failed",
      error: { name: "Error", message: "no" },
    })
    const second = await run(mine, { startedAt: noon + 1, source: "http" })
    await run(other, { startedAt: noon })
    const bobs = await run(mine, { startedAt: noon, accountId: bob.id })
    const ask = async (as: TestUser, query: string) =>
      idsOf(await call("GET", `/v1/me/runs?${query}`, { as }))
    expect(await ask(ada, `val_id=${mine.id}`)).toEqual([second.id, first.id])
    expect(await ask(ada, `val_id=${mine.id.toUpperCase()}&error=true`)).toEqual([first.id])
    expect(await ask(ada, `val_id=${mine.id}&source=http,ui`)).toEqual([second.id])
    expect(await ask(ada, `val_id=${mine.id}&since=${at(noon)}`)).toEqual([second.id])
    expect(await ask(ada, `val_id=${mine.id}&limit=1&offset=1`)).toEqual([first.id])
    expect(await ask(bob, `val_id=${mine.id}`)).toEqual([bobs.id])
    expect(await ask(bob, `val_id=${other.id}`)).toEqual([])
    const { json } = await call("GET", `/v1/me/runs?val_id=${mine.id}&limit=1`, { as: ada })
    expect(json.links.next).toContain(`val_id=${mine.id}`)
  })

  test("is empty for a hidden or missing val", async () => {
    const [ada, bob] = [await person(), await person()]
    const hidden = await val(ada)
    await run(hidden, { accountId: bob.id })
    expectStatus(
      await call("PUT", `/v1/vals/${hidden.id}`, { as: ada, body: { privacy: "private" } }),
      204,
    )
    for (const id of [hidden.id, missing])
      expect(idsOf(await call("GET", `/v1/me/runs?val_id=${id}`, { as: bob }))).toEqual([])
    expect(refusalOf(await call("GET", "/v1/me/runs?val_id=1", { as: bob }))).toEqual([
      400,
      "invalid_request",
    ])
  })
}
