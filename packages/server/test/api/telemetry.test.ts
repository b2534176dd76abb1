import { describe, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import type { RunRecord } from "../../src/domain/runs/runs.ts"
import { expectStatus, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeApi, refusalOf, type ValView } from "./suite.ts"

const noon = Date.parse("2024-05-01T12:00:00.000Z")
const at = (ms: number) => new Date(noon + ms).toISOString()
const line = (ms: number, message: string, level: "log" | "error" = "log") => ({
  at: at(ms),
  level,
  message,
})
const missing = "01890000-0000-7000-8000-000000000000"

interface Trace {
  readonly traceId: string
  readonly attributes: readonly {
    key: string
    value: { stringValue?: string; intValue?: string }
  }[]
}

describeApi("api/telemetry", (suite) => {
  describe("GET /v1/telemetry/traces", () => {
    defineTraces(suite)
    defineOrder(suite)
    defineFilters(suite)
  })
  describe("GET /v1/telemetry/logs", () => defineLogs(suite))
})

const toTraceId = ({ id }: Pick<RunRecord, "id">) => id.replaceAll("-", "")

/** The runs of a list, as places among the given ones. */
async function placesOf(
  { call }: ApiSuite,
  as: TestUser,
  query: string,
  runs: readonly RunRecord[],
): Promise<readonly number[]> {
  const { json } = expectStatus(await call("GET", `/v1/telemetry/traces?${query}`, { as }), 200)
  return json.data.map((it: Trace) => runs.findIndex((run) => toTraceId(run) === it.traceId))
}

function toValues({ attributes }: Trace): Record<string, string | undefined> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]),
  )
}

function defineTraces(suite: ApiSuite) {
  const { call, addUser, val, run } = suite
  const onlyTrace = async (as: TestUser): Promise<Trace> =>
    expectStatus(await call("GET", "/v1/telemetry/traces", { as }), 200).json.data[0]

  test("shows a request with its headers, without credentials and secrets", async () => {
    const ada = await addUser()
    const site = await val(ada, { type: "http" })
    const secret = { as: ada, body: { value: "correct-horse" } }
    expectStatus(await call("PUT", `/v1/vals/${site.id}/secrets/PASS`, secret), 204)
    const ran = await run(site, {
      source: "http",
      startedAt: noon,
      endedAt: noon + 12,
      request: { method: "POST", url: "http://x.hamlet.test/a?b=1", status: 201 },
      input: {
        headers: [
          ["x-custom", "yes"],
          ["x-signed", "with correct-horse"],
          ["x-api-key", "k"],
        ],
        body: "",
      },
      response: {
        headers: [
          ["content-type", "text/plain"],
          ["set-cookie", "[removed]"],
        ],
        body: "",
        bytes: 0,
        isBinary: false,
        isTruncated: false,
      },
    })
    const trace = await onlyTrace(ada)
    expect(trace).toMatchObject({
      traceId: toTraceId(ran),
      name: "http main.tsx",
      startTimeUnixNano: `${noon}000000`,
      endTimeUnixNano: `${noon + 12}000000`,
      status: { code: 1, message: "" },
    })
    expect(toValues(trace)).toEqual({
      "val.type": "http",
      "val.file_id": site.id,
      "val.branch_id": site.id,
      "val.version": "1",
      "http.request.method": "POST",
      "url.full": "http://x.hamlet.test/a?b=1",
      "http.response.status_code": "201",
      "http.request.header.x-custom": "yes",
      "http.request.header.x-signed": "with [secret PASS]",
      "http.response.header.content-type": "text/plain",
    })
  })

  test("shows no headers where the secrets that they may contain cannot be read", async () => {
    const ada = await addUser()
    const site = await val(ada, { type: "http" })
    const secret = { as: ada, body: { value: "correct-horse" } }
    expectStatus(await call("PUT", `/v1/vals/${site.id}/secrets/PASS`, secret), 204)
    await suite.database.db.write(function* () {
      yield sql`update val_secrets set key_id = ${"0123456789abcdef"} where val_id = ${site.id}`
    })
    await run(site, {
      source: "http",
      request: { method: "GET", url: "http://x.hamlet.test/", status: 200 },
      input: { headers: [["x-signed", "with correct-horse"]], body: "" },
    })
    const values = toValues(await onlyTrace(ada))
    expect(Object.keys(values).filter((key) => key.includes("header"))).toEqual([])
    expect(values["http.request.method"]).toBe("GET")
  })

  test("shows a run of an http val through the API as a GET of its address", async () => {
    const ada = await addUser()
    const site = await val(ada, { type: "http" })
    await run(site, { source: "api" })
    const values = toValues(await onlyTrace(ada))
    expect(values["http.request.method"]).toBe("GET")
    expect(values["url.full"]).toBe(site.links.endpoint ?? "")
    expect(Object.keys(values)).not.toContain("http.response.status_code")
  })

  test("shows no headers of another user's val", async () => {
    const [ada, bob] = [await addUser(), await addUser()]
    await run(await val(ada, { type: "http" }), {
      source: "http",
      accountId: bob.id,
      request: { method: "GET", url: "http://x.hamlet.test/", status: 200 },
      input: { headers: [["x-custom", "yes"]], body: "" },
    })
    const values = toValues(await onlyTrace(bob))
    expect(values["url.full"]).toBe("http://x.hamlet.test/")
    expect(JSON.stringify(values)).not.toContain("x-custom")
  })

  test("says how a run ended", async () => {
    const ada = await addUser()
    const script = await val(ada)
    const error = { name: "Error", message: "too slow" }
    await run(script, { startedAt: noon, status: "timed_out", error })
    await run(script, { startedAt: noon + 1, status: "running", endedAt: null })
    const { json } = await call("GET", "/v1/telemetry/traces?direction=asc", { as: ada })
    expect(json.data).toMatchObject([
      { status: { code: 2, message: "too slow" }, name: "api main.tsx" },
      { status: { code: 0, message: "" }, endTimeUnixNano: "0" },
    ])
    expect(toValues(json.data[0])).not.toHaveProperty(["url.full"])
  })

  test("shows the version that ran, also if it was deleted", async () => {
    const ada = await addUser()
    const script = await val(ada)
    const body = { code: "2", type: "http" }
    await call("POST", `/v1/vals/${script.id}/versions`, { as: ada, body })
    await run(script, { startedAt: noon })
    const typeOf = async () => toValues(await onlyTrace(ada))["val.type"]
    expect(await typeOf()).toBe("script")
    expectStatus(await call("DELETE", `/v1/vals/${script.id}/versions/1`, { as: ada }), 204)
    expect(await typeOf()).toBe("http")
  })

  test("excludes code that was not saved, deleted vals and vals that became private", async () => {
    const [ada, bob] = [await addUser(), await addUser()]
    const [closed, gone] = [await val(ada), await val(ada)]
    for (const ran of [closed, gone]) await run(ran, { accountId: bob.id })
    await run({ ...closed, id: bob.id, version: 0, author: { ...closed.author, id: bob.id } }, {})
    const count = async () =>
      (await call("GET", "/v1/telemetry/traces", { as: bob })).json.data.length
    expect(await count()).toBe(2)
    await call("PUT", `/v1/vals/${closed.id}`, { as: ada, body: { privacy: "private" } })
    await call("DELETE", `/v1/vals/${gone.id}`, { as: ada })
    expect(await count()).toBe(0)
  })
}

/** Places 0 to 4: started a second apart; the first ends last, the third goes on. */
async function withRuns({ addUser, val, run }: ApiSuite) {
  const ada = await addUser()
  const ran = await val(ada)
  const times: readonly (readonly [number, number | null])[] = [
    [0, 9_000],
    [1_000, 1_005],
    [2_000, null],
    [3_000, 3_500],
    [4_000, 4_005],
  ]
  const runs: RunRecord[] = []
  for (const [from, to] of times)
    runs.push(
      await run(ran, {
        startedAt: noon + from,
        endedAt: to === null ? null : noon + to,
        status: to === null ? "running" : "succeeded",
      }),
    )
  return { ada, ran, runs }
}

const orders: readonly (readonly [query: string, places: readonly number[]])[] = [
  ["", [4, 3, 2, 1, 0]],
  ["direction=asc", [0, 1, 2, 3, 4]],
  ["limit=2", [4, 3]],
  [`end=${at(3_000)}`, [2, 1, 0]],
  [`start=${at(1_000)}`, [4, 3, 2]],
  [`start=${at(1_000)}&direction=asc&limit=2`, [2, 3]],
  [`start=${at(0)}&end=${at(4_000)}`, [3, 2, 1]],
  [`start=${at(4_000)}&end=${at(0)}`, []],
  ["order_by=end_time", [0, 4, 3, 1]],
  ["order_by=end_time&direction=asc", [1, 3, 4, 0]],
  [`order_by=end_time&direction=asc&start=${at(1_005)}`, [3, 4, 0]],
  [`order_by=end_time&start=${at(4_005)}`, [0]],
  [`order_by=end_time&end=${at(4_005)}`, [3, 1]],
  [`order_by=end_time&start=${at(8_999)}&end=${at(9_001)}`, [0]],
]

function defineOrder(suite: ApiSuite) {
  const { call, addUser, val, run } = suite

  test("reads a window in each order and direction", async () => {
    const { ada, runs } = await withRuns(suite)
    for (const [query, places] of orders)
      expect([query, await placesOf(suite, ada, query, runs)]).toEqual([query, places])
  })

  test("is polled as the official command line does, and shows each run once", async () => {
    const { ada, runs } = await withRuns(suite)
    let start = at(-1)
    const places: number[] = []
    for (;;) {
      const query = `order_by=end_time&direction=asc&limit=2&start=${start}`
      const path = `/v1/telemetry/traces?${query}`
      const { data, links } = expectStatus(await call("GET", path, { as: ada }), 200).json
      places.push(
        ...data.map((it: Trace) => runs.findIndex((run) => toTraceId(run) === it.traceId)),
      )
      expect(links.self).toContain("order_by=end_time")
      if (links.next === undefined) {
        expect(data).toEqual([])
        break
      }
      const next = new URL(links.next)
      expect(next.searchParams.get("limit")).toBe("2")
      start = new Date(next.searchParams.get("start") ?? "").toISOString()
    }
    expect(places).toEqual([1, 3, 4, 0])
  })

  test("goes on behind a page that descends", async () => {
    const { ada, runs } = await withRuns(suite)
    const { links } = (await call("GET", "/v1/telemetry/traces?limit=3", { as: ada })).json
    const { search } = new URL(links.next)
    expect(await placesOf(suite, ada, search.slice(1), runs)).toEqual([1, 0])
    const all = await call("GET", "/v1/telemetry/traces?limit=5", { as: ada })
    expect(all.json.links).not.toHaveProperty("next")
  })

  test("never ends a page within a millisecond", async () => {
    const ada = await addUser()
    const ran = await val(ada)
    for (const offset of [0, 0, 0, 1]) await run(ran, { startedAt: noon + offset })
    for (const [query, count] of [
      ["limit=1&direction=asc", 3],
      ["limit=2", 4],
      ["limit=1", 1],
    ] as const) {
      const { json } = await call("GET", `/v1/telemetry/traces?${query}`, { as: ada })
      expect([query, json.data.length]).toEqual([query, count])
    }
  })

  test("shows a run by its end only when late records of others have been written", async () => {
    const ada = await addUser()
    const ran = await val(ada)
    // The run ends in the future, however slow the machine is.
    const soon = await run(ran, { startedAt: Date.now(), endedAt: Date.now() + 3_600_000 })
    await run(ran, { startedAt: noon })
    expect(await placesOf(suite, ada, "order_by=end_time", [soon])).toEqual([-1])
    expect(await placesOf(suite, ada, "limit=1", [soon])).toEqual([0])
    const now = Date.now()
    const past = await run(ran, { startedAt: now - 5, endedAt: now })
    await waitUntil(async () =>
      (await placesOf(suite, ada, "order_by=end_time&limit=1", [past])).includes(0),
    )
    expect(Date.now() - now).toBeGreaterThanOrEqual(300)
  })
}

function defineFilters(suite: ApiSuite) {
  const { call, addUser, val, run } = suite

  test("filters by branch and by file", async () => {
    const [ada, bob] = [await addUser(), await addUser()]
    const vals = [await val(ada), await val(ada), await val(bob)]
    const runs: RunRecord[] = []
    for (const [index, ran] of vals.entries())
      for (const offset of [0, 10])
        runs.push(await run(ran, { startedAt: noon + index + offset, accountId: ada.id }))
    await run(vals[0] as ValView, { accountId: bob.id, startedAt: noon + 5 })
    const [one, two, bobs] = vals.map(({ id }) => id)
    for (const [query, places] of [
      [`branch_ids=${one}`, [1, 0]],
      [`branch_ids=${one}&branch_ids=${bobs}`, [5, 1, 4, 0]],
      [`branch_ids=${one},${two}&direction=asc`, [0, 2, 1, 3]],
      [`branch_ids[]=${one}&branch_ids[]=${two}&limit=1`, [3]],
      [`branch_ids=${one}&branch_ids=${two}&order_by=end_time&limit=3`, [3, 1, 2]],
      [`file_id=${two}`, [3, 2]],
      [`file_id=${two}&branch_ids=${one}`, []],
      [`file_id=${missing}`, []],
      [`branch_ids=${missing},${two}`, [3, 2]],
    ] as const)
      expect([query, await placesOf(suite, ada, query, runs)]).toEqual([query, [...places]])
  })

  test("names file and branch, and filters by those of a val with several", async () => {
    const { ada, home, files, runs } = await withFiles(suite)
    const { json } = await call("GET", "/v1/telemetry/traces?direction=asc", { as: ada })
    expect(
      json.data.map((it: Trace & { name: string }) => {
        const values = toValues(it)
        const { "val.file_id": file, "val.branch_id": branch, "val.type": type } = values
        return [it.name, type, file, branch, values["url.full"]]
      }),
    ).toEqual(
      files.map(({ id, branchId, path, type, links }) => [
        `api ${path}`,
        type,
        id,
        branchId,
        links.endpoint,
      ]),
    )
    const [main, side, other] = files as [FileOfBranch, FileOfBranch, FileOfBranch]
    for (const [query, places] of [
      [`branch_ids=${home.id}`, [0, 1]],
      [`branch_ids=${other.branchId}`, [2]],
      [`branch_ids=${other.branchId},${home.id}`, [0, 1, 2]],
      [`file_id=${main.id}`, [0]],
      [`file_id=${side.id}`, [1]],
      [`file_id=${other.id}`, [2]],
      [`file_id=${other.id}&branch_ids=${other.branchId}`, [2]],
      [`file_id=${other.id}&branch_ids=${home.id}`, []],
    ] as const) {
      const found = await placesOf(suite, ada, `direction=asc&${query}`, runs)
      expect([query, found]).toEqual([query, [...places]])
      const logs = await call("GET", `/v1/telemetry/logs?direction=asc&${query}`, { as: ada })
      expect([query, logs.json.data.map(toMessage)]).toEqual([query, places.map(String)])
      const ids = runs.map(toTraceId).join()
      const ofTraces = await call("GET", `/v1/telemetry/logs?trace_ids=${ids}&${query}`, {
        as: ada,
      })
      expect([query, ofTraces.json.data.map(toMessage).sort()]).toEqual([query, places.map(String)])
    }
    const stranger = await addUser()
    expect(await placesOf(suite, stranger, `file_id=${side.id}`, runs)).toEqual([])
  })

  test("shows the type that a file had in the version that ran", async () => {
    const { ada, home, files } = await withFiles(suite)
    const [, side] = files as [FileOfBranch, FileOfBranch]
    const body = { type: "email", content: "1" }
    await call("PUT", `/v2/vals/${home.id}/files?path=${side.path}`, { as: ada, body })
    const typeOf = async () => {
      const { json } = await call("GET", `/v1/telemetry/traces?file_id=${side.id}`, { as: ada })
      return [toValues(json.data[0])["val.type"], json.data[0].name]
    }
    expect(await typeOf()).toEqual(["http", "api side.ts"])
    const moved = { name: "moved.ts" }
    expectStatus(
      await call("PUT", `/v2/vals/${home.id}/files?path=${side.path}`, { as: ada, body: moved }),
      200,
    )
    expect(await typeOf()).toEqual(["email", "api moved.ts"])
  })

  test("rejects wrong queries", async () => {
    const ada = await suite.sharedUser()
    for (const query of [
      "limit=0",
      "limit=101",
      "direction=up",
      "order_by=name",
      "start=yesterday",
      "end=2024-02-30",
      "start=2024-01-01T00:00:00.1234567890Z",
      "branch_ids=main",
      `branch_ids=${Array.from({ length: 21 }, (_, index) => missing.replace("0", String(index % 10)).replace(/00$/, String(10 + index))).join()}`,
      "file_id=",
    ])
      expect([
        query,
        ...refusalOf(await call("GET", `/v1/telemetry/traces?${query}`, { as: ada })),
      ]).toEqual([query, 400, "invalid_request"])
    for (const query of ["trace_ids=1", `trace_ids=${"g".repeat(32)}`])
      expect(refusalOf(await call("GET", `/v1/telemetry/logs?${query}`, { as: ada }))).toEqual([
        400,
        "invalid_request",
      ])
  })
}

interface FileOfBranch {
  readonly id: string
  readonly branchId: string
  readonly path: string
  readonly type: string
  readonly version: number
  readonly links: { readonly endpoint?: string }
}

/** A val with two files on `main` and one on another branch, each with a run that has logged its place. */
async function withFiles({ call, addUser, run, val }: ApiSuite) {
  const ada = await addUser()
  const home = await val(ada, { type: "http" })
  const base = `/v2/vals/${home.id}`
  const side = { as: ada, body: { type: "http", content: "2" } }
  expectStatus(await call("POST", `${base}/files?path=side.ts`, side), 201)
  const branch = expectStatus(
    await call("POST", `${base}/branches`, { as: ada, body: { name: "trial" } }),
    201,
  ).json
  const files: FileOfBranch[] = []
  for (const [path, branchId] of [
    ["main.tsx", home.id],
    ["side.ts", home.id],
    ["side.ts", branch.id],
  ]) {
    const query = `path=${path}&branch_id=${branchId}`
    const { json } = expectStatus(await call("GET", `${base}/files?${query}`, { as: ada }), 200)
    files.push({ ...json.data[0], branchId })
  }
  const runs: RunRecord[] = []
  for (const [index, { id, branchId, path, version: since }] of files.entries()) {
    const version = branchId === home.id ? 2 : 0
    runs.push(
      await run(home, {
        startedAt: noon + index,
        version,
        logs: [line(index, String(index))],
        file: { id, path, since, branchId, branchName: "", isEntry: false },
      }),
    )
  }
  return { ada, home, files, runs }
}

const toMessage = ({ body }: Log) => body.stringValue

function defineLogs(suite: ApiSuite) {
  const { call, addUser, val, run } = suite
  const ask = async (as: TestUser, query: string) => {
    const { json } = expectStatus(await call("GET", `/v1/telemetry/logs?${query}`, { as }), 200)
    return json as { data: Log[]; links: { next?: string } }
  }
  const textsOf = async (as: TestUser, query: string) =>
    (await ask(as, query)).data.map(({ body }) => body.stringValue)

  async function withLogs() {
    const ada = await addUser()
    const [one, two] = [await val(ada), await val(ada)]
    const runs = [
      await run(one, {
        startedAt: noon,
        endedAt: noon + 50,
        logs: [line(0, "a"), line(10, "b"), line(10, "c", "error"), line(40, "f")],
      }),
      await run(two, {
        startedAt: noon + 5,
        endedAt: null,
        status: "running",
        logs: [line(20, "d"), line(30, "e")],
      }),
    ] as const
    return { ada, one, two, runs }
  }

  test("shows lines with a time of their own, their file and their stream", async () => {
    const { ada, one, runs } = await withLogs()
    const { data } = await ask(ada, `trace_ids=${toTraceId(runs[0])}&direction=asc`)
    expect(data[2]).toEqual({
      traceId: toTraceId(runs[0]),
      timeUnixNano: `${noon + 10}000001`,
      severityText: "stderr",
      body: { stringValue: "c" },
      attributes: [
        { key: "val.file_id", value: { stringValue: one.id } },
        { key: "val.branch_id", value: { stringValue: one.id } },
      ],
    })
    expect(data.map(({ severityText }) => severityText)).toEqual([
      "stdout",
      "stdout",
      "stderr",
      "stdout",
    ])
  })

  test("reads windows, branches, files and traces in both directions", async () => {
    const { ada, one, two, runs } = await withLogs()
    const [first, second] = runs.map(toTraceId)
    for (const [query, texts] of [
      ["", "fedcba"],
      ["direction=asc", "abcdef"],
      ["direction=asc&limit=2", "ab"],
      ["limit=2", "fe"],
      [`start=${at(10)}&direction=asc`, "cdef"],
      [`start=${at(10).replace("Z", "000001Z")}&direction=asc`, "def"],
      [`end=${at(20)}`, "cba"],
      [`start=${at(0)}&end=${at(40)}`, "edcb"],
      [`branch_ids=${two.id}`, "ed"],
      [`file_id=${one.id}&direction=asc`, "abcf"],
      [`trace_ids=${second}`, "ed"],
      [`trace_ids=${first}&trace_ids=${second}&direction=asc&limit=4`, "abcd"],
      [`trace_ids=${first},${second}&file_id=${two.id}`, "ed"],
      [`trace_ids=${missing.replaceAll("-", "")}`, ""],
    ] as const)
      expect([query, (await textsOf(ada, query)).join("")]).toEqual([query, texts])
  })

  test("is read one by one, as the official command line does", async () => {
    const { ada, runs } = await withLogs()
    const texts: string[] = []
    let start = ""
    for (;;) {
      const { data, links } = await ask(
        ada,
        `trace_ids=${toTraceId(runs[0])}&direction=asc&limit=1${start}`,
      )
      texts.push(...data.map(({ body }) => body.stringValue))
      if (links.next === undefined) break
      start = `&start=${new URL(links.next).searchParams.get("start")}`
    }
    expect(texts.join("")).toBe("abcf")
  })

  test("shows no lines of runs on other accounts", async () => {
    const { runs } = await withLogs()
    const bob = await addUser()
    expect(await textsOf(bob, `trace_ids=${toTraceId(runs[0])}`)).toEqual([])
  })
}

interface Log {
  readonly traceId: string
  readonly timeUnixNano: string
  readonly attributes: Trace["attributes"]
  readonly severityText: string
  readonly body: { readonly stringValue: string }
}
