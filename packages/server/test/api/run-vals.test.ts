import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeSqliteApi, idsOf, refusalOf, type ValView } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
const add = "export default (a, b) => a + b"
const fail = 'export default () => { throw new TypeError("no such luck") }'
/** Runs until it is cancelled. */
const hang = 'export default () => { console.log("here"); return new Promise(() => {}) }'

describeSqliteApi("api/run-vals", (suite) => {
  describe("POST /v1/vals/{val_id}/runs", () => defineCreate(suite))
  describe("Prefer: respond-async", () => defineAsync(suite))
  describe("/v1/run/{username}.{val_name}", () => defineCall(suite))
  describe("POST /v1/runs/{run_id}/cancel", () => defineCancel(suite))
  describe("POST /v1/runs/{run_id}/replay", () => defineReplay(suite))
})

const path = (val: ValView) => `/v1/vals/${val.id}/runs`

/** A run that goes on: it has logged its line, so its code has begun. */
async function startHanging({ call, val }: ApiSuite, owner: TestUser) {
  const hanging = await val(owner, { code: hang })
  const begun = expectStatus(
    await call("POST", path(hanging), { as: owner, headers: { prefer: "respond-async" } }),
    202,
  )
  const { id } = begun.json
  await waitUntil(
    async () => (await call("GET", `/v1/runs/${id}/logs`, { as: owner })).json.data.length === 1,
  )
  return { id, val: hanging }
}

function defineCreate(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite

  test("runs the val with the arguments and returns the whole run", async () => {
    const ada = await person()
    const adder = await val(ada, { code: add })
    const { json } = expectStatus(
      await call("POST", path(adder), { as: ada, body: { args: [1, 2] } }),
      200,
    )
    expect(json).toMatchObject({
      status: "succeeded",
      source: "api",
      parentId: null,
      args: [1, 2],
      returnValue: 3,
      error: null,
      logs: [],
    })
    expect(json).toMatchObject({
      val: { id: adder.id, version: 1, author_id: ada.id },
      request: null,
      logsTruncated: false,
      emails: [],
    })
    expect(Date.parse(json.runEndAt) - Date.parse(json.runStartAt)).toBe(json.durationMs)
    expect((await call("GET", `/v1/runs/${json.id}`, { as: ada })).json).toEqual(json)
    expect(idsOf(await call("GET", "/v1/me/runs", { as: ada }))).toEqual([json.id])
    expect((await call("GET", `/v1/vals/${adder.id}`)).json).toMatchObject({
      runStartAt: json.runStartAt,
      runEndAt: json.runEndAt,
    })
  })

  test("is 200 also when the val fails, with the error in the run", async () => {
    const ada = await person()
    const { json } = expectStatus(
      await call("POST", path(await val(ada, { code: fail })), { as: ada }),
      200,
    )
    expect(json).toMatchObject({
      status: "failed",
      returnValue: null,
      error: { name: "TypeError", message: "no such luck" },
    })
    expect(idsOf(await call("GET", "/v1/me/runs?error=true", { as: ada }))).toEqual([json.id])
  })

  test("keeps the logs in order", async () => {
    const ada = await person()
    const code =
      'export default async () => { console.log("one"); await null; console.warn("two"); console.error("three") }'
    const { json } = expectStatus(
      await call("POST", path(await val(ada, { code })), { as: ada }),
      200,
    )
    expect(
      json.logs.map((line: { level: string; message: string }) => [line.level, line.message]),
    ).toEqual([
      ["log", "one"],
      ["warn", "two"],
      ["error", "three"],
    ])
  })

  test("runs the requested version, by default the current one", async () => {
    const ada = await person()
    const made = await val(ada, { code: "export default () => 1" })
    expectStatus(
      await call("POST", `/v1/vals/${made.id}/versions`, {
        as: ada,
        body: { code: "export default () => 2" },
      }),
      201,
    )
    const run = async (body?: object) =>
      expectStatus(await call("POST", path(made), { as: ada, body }), 200).json
    expect(await run()).toMatchObject({ returnValue: 2, val: { version: 2 } })
    expect(await run({ version: 1 })).toMatchObject({ returnValue: 1, val: { version: 1 } })
    for (const version of [0, 3, 2 ** 40]) {
      expect(refusalOf(await call("POST", path(made), { as: ada, body: { version } }))).toEqual([
        404,
        "version_not_found",
      ])
    }
  })

  test("creates a run on the caller's account, which the val's owner sees too", async () => {
    const [ada, bob, eve] = [await person(), await person(), await person()]
    const hers = await val(ada, { code: add })
    const { id } = expectStatus(
      await call("POST", path(hers), { as: bob, body: { args: [1, 1] } }),
      200,
    ).json
    expect(idsOf(await call("GET", "/v1/me/runs", { as: bob }))).toEqual([id])
    expect(idsOf(await call("GET", "/v1/me/runs", { as: ada }))).toEqual([])
    expect(idsOf(await call("GET", path(hers), { as: ada }))).toEqual([id])
    expect(refusalOf(await call("GET", `/v1/runs/${id}`, { as: eve }))).toEqual([
      404,
      "run_not_found",
    ])
  })

  test("requires access to the val and the scope to run", async () => {
    const [ada, bob] = [await person(), await person()]
    const hidden = await val(ada, { code: add, privacy: "private" })
    expect(refusalOf(await call("POST", path(hidden), { as: bob }))).toEqual([404, "val_not_found"])
    expect(refusalOf(await call("POST", `/v1/vals/${missing}/runs`, { as: bob }))).toEqual([
      404,
      "val_not_found",
    ])
    expect(refusalOf(await call("POST", path(await val(ada)), {}))).toEqual([
      401,
      "unauthenticated",
    ])
    expectStatus(
      await call("POST", path(await val(ada, { code: add, privacy: "unlisted" })), { as: bob }),
      200,
    )
  })

  const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`
  const wrong: readonly (readonly [string, unknown])[] = [
    ["args that are no list", { args: { a: 1 } }],
    ["args that are a text", { args: "[1]" }],
    ["too many args", { args: Array.from({ length: limits.argsMax + 1 }, () => 0) }],
    ["args that are too deep", `{"args":${deep(limits.argLevelsMax + 1)}}`],
    ["args that are far too deep", `{"args":${deep(50_000)}}`],
    ["a negative version", { version: -1 }],
    ["a version that is no integer", { version: 1.5 }],
    ["a body that is no object", "[1]"],
  ]
  for (const [title, body] of wrong) {
    test(`refuses ${title}`, async () => {
      const ada = await person()
      expect(
        (await call("POST", path(await val(ada, { code: add })), { as: ada, body })).status,
      ).toBe(400)
    })
  }

  test("accepts the most and deepest arguments, and any character", async () => {
    const ada = await person()
    const echo = await val(ada, { code: "export default (...args) => args" })
    const many = Array.from({ length: limits.argsMax }, (_, index) => index)
    for (const args of [
      many,
      [JSON.parse(deep(limits.argLevelsMax - 1))],
      ["\u0000", "\ud800", "😀\u2028", null, true, 1e300],
    ]) {
      const { json } = expectStatus(
        await call("POST", path(echo), { as: ada, body: { args } }),
        200,
      )
      expect(json.returnValue).toEqual(args)
      expect(json.args).toEqual(args)
    }
  })

  test("keeps 100 KB of the arguments and of the return value, and marks the truncation", async () => {
    const ada = await person()
    const echo = await val(ada, { code: "export default (text) => text" })
    const { json } = expectStatus(
      await call("POST", path(echo), { as: ada, body: { args: ["é".repeat(80_000)] } }),
      200,
    )
    expect(json.status).toBe("succeeded")
    for (const kept of [json.args, json.returnValue]) {
      expect(kept).toMatch(/é… \(cut, \d+ bytes in all\)$/)
      expect(Buffer.byteLength(kept)).toBeWithin(
        limits.runValueBytesMax - 2,
        limits.runValueBytesMax + 50,
      )
    }
  })

  test("runs once per Idempotency-Key", async () => {
    const ada = await person()
    const adder = await val(ada, { code: add })
    const send = (args: unknown[]) =>
      call("POST", path(adder), {
        as: ada,
        body: { args },
        headers: { "idempotency-key": "the same" },
      })
    const first = expectStatus(await send([1, 2]), 200).json
    expect(expectStatus(await send([1, 2]), 200).json).toEqual(first)
    expect(refusalOf(await send([2, 2]))).toEqual([422, "idempotency_mismatch"])
    expect(idsOf(await call("GET", path(adder), { as: ada }))).toEqual([first.id])
  })
}

function defineAsync(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite

  test("is 202 at once with the run and its location, and the run continues to its end", async () => {
    const ada = await person()
    const adder = await val(ada, { code: add })
    const headers = { prefer: "handling=lenient, Respond-Async; wait=1" }
    const begun = expectStatus(
      await call("POST", path(adder), { as: ada, body: { args: [2, 3] }, headers }),
      202,
    )
    const { id } = begun.json
    expect(begun.headers.get("location")).toBe(`${testBaseUrl}/v1/runs/${id}`)
    expect(begun.headers.get("preference-applied")).toBe("respond-async")
    await waitUntil(
      async () => (await call("GET", `/v1/runs/${id}`, { as: ada })).json.runEndAt !== null,
    )
    expect((await call("GET", `/v1/runs/${id}`, { as: ada })).json).toMatchObject({
      status: "succeeded",
      returnValue: 5,
    })
  })

  test("shows the status running meanwhile, also in lists", async () => {
    const ada = await person()
    const { id, val: hanging } = await startHanging(suite, ada)
    expect((await call("GET", `/v1/runs/${id}`, { as: ada })).json).toMatchObject({
      status: "running",
      runEndAt: null,
      durationMs: null,
    })
    expect(idsOf(await call("GET", path(hanging), { as: ada }))).toEqual([id])
    expectStatus(await call("POST", `/v1/runs/${id}/cancel`, { as: ada }), 200)
  })
}

function defineCall(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite
  const at = (val: ValView) => `/v1/run/${val.author.username}.${val.name}`

  test("responds with the return value only", async () => {
    const ada = await person()
    const adder = await val(ada, { code: add })
    expect(
      expectStatus(await call("POST", at(adder), { as: ada, body: { args: [1, 2] } }), 200).text,
    ).toBe("3")
    expect(
      expectStatus(
        await call("GET", `${at(adder)}?args=${encodeURIComponent('["a","b"]')}`, { as: ada }),
        200,
      ).text,
    ).toBe('"ab"')
    expect(
      expectStatus(
        await call("GET", `/v1/run/@${ada.username}.${adder.name.toUpperCase()}?args=[1,1]`, {
          as: ada,
        }),
        200,
      ).text,
    ).toBe("2")
    const nothing = await val(ada, { code: "export default () => {}" })
    expect(expectStatus(await call("POST", at(nothing), { as: ada }), 200).text).toBe("null")
    expect((await call("GET", "/v1/me/runs", { as: ada })).json.data).toHaveLength(4)
  })

  test("responds with the whole error to the owner, and with its message to others", async () => {
    const [ada, bob] = [await person(), await person()]
    const failing = await val(ada, { code: fail })
    const { json, headers } = expectStatus(await call("POST", at(failing), { as: ada }), 502)
    expect(json).toMatchObject({
      code: "run_failed",
      message: `Cannot run val "${ada.username}/${failing.name}": no such luck`,
    })
    expect(json.runError).toMatchObject({
      name: "TypeError",
      message: "no such luck",
      stack: expect.any(String),
    })
    expect(headers.get("x-should-retry")).toBe("false")
    expect((await call("GET", `/v1/runs/${json.runId}`, { as: ada })).json).toMatchObject({
      status: "failed",
      id: json.runId,
    })
    const toBob = expectStatus(await call("GET", at(failing), { as: bob }), 502).json
    expect(toBob).toMatchObject({
      code: "run_failed",
      message: json.message,
      runId: expect.any(String),
    })
    expect(toBob).not.toHaveProperty("runError")
  })

  test("requires the scope to run for every method, and access to the val", async () => {
    const [ada, bob] = [await person(), await person()]
    const [shown, hidden] = [
      await val(ada, { code: add }),
      await val(ada, { code: add, privacy: "private" }),
    ]
    for (const method of ["GET", "POST"]) {
      expect(refusalOf(await call(method, at(shown)))).toEqual([401, "unauthenticated"])
      expect(refusalOf(await call(method, at(hidden), { as: bob }))).toEqual([404, "val_not_found"])
      expect(refusalOf(await call(method, "/v1/run/nobody.nothing", { as: bob }))).toEqual([
        404,
        "val_not_found",
      ])
      expect((await call(method, "/v1/run/nodot", { as: bob })).status).toBe(400)
    }
  })

  test("accepts empty args", async () => {
    const ada = await person()
    const counter = await val(ada, { code: "export default (...args) => args.length" })
    expect(expectStatus(await call("GET", `${at(counter)}?args=`, { as: ada }), 200).json).toBe(0)
    expect(expectStatus(await call("GET", `${at(counter)}?args=[]`, { as: ada }), 200).json).toBe(0)
  })

  for (const args of ["1", "{}", "[", `[${"[".repeat(200)}${"]".repeat(200)}]`]) {
    test(`refuses the arguments ${args.slice(0, 10)}`, async () => {
      const ada = await person()
      const adder = await val(ada, { code: add })
      expect(refusalOf(await call("GET", `${at(adder)}?args=${args}`, { as: ada }))).toEqual([
        400,
        "invalid_request",
      ])
    })
  }
}

function defineCancel(suite: ApiSuite): void {
  const { call, addUser: person, val, run } = suite
  const cancel = (id: string, as: TestUser) => call("POST", `/v1/runs/${id}/cancel`, { as })

  test("cancels a running run, once", async () => {
    const ada = await person()
    const { id } = await startHanging(suite, ada)
    expect(expectStatus(await cancel(id, ada), 200).json).toEqual({ found: true })
    await waitUntil(
      async () => (await call("GET", `/v1/runs/${id}`, { as: ada })).json.runEndAt !== null,
    )
    expect((await call("GET", `/v1/runs/${id}`, { as: ada })).json).toMatchObject({
      status: "cancelled",
      error: { message: expect.any(String) },
    })
    expect(expectStatus(await cancel(id, ada), 200).json).toEqual({ found: false })
  })

  test("also works at /v1/vals/{val_id}/evaluations/{run_id}/cancel, for runs of that val only", async () => {
    const ada = await person()
    const { id, val: hanging } = await startHanging(suite, ada)
    const other = await val(ada)
    const at = (valId: string) => `/v1/vals/${valId}/evaluations/${id}/cancel`
    expect(refusalOf(await call("POST", at(other.id), { as: ada }))).toEqual([404, "run_not_found"])
    expect(expectStatus(await call("POST", at(hanging.id), { as: ada }), 200).json).toEqual({
      found: true,
    })
  })

  test("is allowed to its caller and to the val's owner", async () => {
    const [ada, bob, eve] = [await person(), await person(), await person()]
    const hanging = await val(ada, { code: hang })
    const headers = { prefer: "respond-async" }
    const start = async () =>
      expectStatus(await call("POST", path(hanging), { as: bob, headers }), 202).json.id
    const [first, second] = [await start(), await start()]
    expect(refusalOf(await cancel(first, eve))).toEqual([404, "run_not_found"])
    expect(expectStatus(await cancel(first, ada), 200).json).toEqual({ found: true })
    expect(expectStatus(await cancel(second, bob), 200).json).toEqual({ found: true })
    expect(refusalOf(await cancel(missing, ada))).toEqual([404, "run_not_found"])
  })

  test("cancels a run that no node executes any more", async () => {
    const ada = await person()
    const ran = await val(ada)
    const id = await waitUntil(async () => {
      const { id } = await run(ran, { status: "running", endedAt: null, nodeId: missing })
      // Unless the server has just ended the run itself, because its node is gone.
      return expectStatus(await cancel(id, ada), 200).json.found && id
    })
    const { json } = await call("GET", `/v1/runs/${id}`, { as: ada })
    expect(json).toMatchObject({
      status: "cancelled",
      runEndAt: expect.any(String),
      error: { name: "Cancelled" },
    })
    expect(idsOf(await call("GET", "/v1/me/runs?error=true", { as: ada }))).toContain(id)
    expect((await call("GET", `/v1/vals/${ran.id}`, { as: ada })).json.runEndAt).not.toBeNull()
  })
}

function defineReplay(suite: ApiSuite): void {
  const { call, addUser: person, val, run } = suite
  const replay = (id: string, as: TestUser) => call("POST", `/v1/runs/${id}/replay`, { as })
  const input = {
    headers: [["content-type", "text/plain"]] as const,
    body: Buffer.from("hello").toString("base64"),
  }
  const echo =
    "export default async (request) => new Response(`${request.method} ${new URL(request.url).search} ${await request.text()}`, { status: 201 })"

  test("runs the same version again with the same arguments", async () => {
    const ada = await person()
    const made = await val(ada, { code: "export default (name) => `Hello, ${name}`" })
    const first = expectStatus(
      await call("POST", path(made), { as: ada, body: { args: ["Bob"] } }),
      200,
    ).json
    expectStatus(
      await call("POST", `/v1/vals/${made.id}/versions`, {
        as: ada,
        body: { code: "export default () => 2" },
      }),
      201,
    )
    const again = expectStatus(await replay(first.id, ada), 200).json
    expect(again).toMatchObject({
      parentId: first.id,
      args: ["Bob"],
      returnValue: "Hello, Bob",
      val: { version: 1 },
      source: "api",
    })
    expect(again.id).not.toBe(first.id)
  })

  test("repeats an HTTP request, and the new run can be replayed too", async () => {
    const ada = await person()
    const answering = await val(ada, { code: `console.log("loaded"); ${echo}`, type: "http" })
    const request = { method: "POST", url: `${answering.links.endpoint}/a?b=c`, status: 500 }
    const { id } = await run(answering, { source: "http", args: null, request, input })
    const again = expectStatus(await replay(id, ada), 200).json
    expect(again).toMatchObject({
      parentId: id,
      status: "succeeded",
      request: { ...request, status: 201 },
    })
    expect(expectStatus(await replay(again.id, ada), 200).json).toMatchObject({
      parentId: again.id,
      request: { status: 201 },
    })
  })

  test("is 202 at once with Prefer: respond-async", async () => {
    const ada = await person()
    const { id } = await run(await val(ada, { code: add }), { args: [1, 2] })
    const begun = expectStatus(
      await call("POST", `/v1/runs/${id}/replay`, {
        as: ada,
        headers: { prefer: "respond-async" },
      }),
      202,
    )
    expect(begun.headers.get("location")).toEndWith(begun.json.id)
  })

  test("creates a run on the caller's account", async () => {
    const [ada, bob, eve] = [await person(), await person(), await person()]
    const hers = await val(ada, { code: add })
    const { id } = await run(hers, { accountId: bob.id, args: [1, 2] })
    const byAda = expectStatus(await replay(id, ada), 200).json
    const byBob = expectStatus(await replay(id, bob), 200).json
    expect(idsOf(await call("GET", "/v1/me/runs", { as: ada }))).toEqual([byAda.id])
    expect(idsOf(await call("GET", "/v1/me/runs", { as: bob }))).toContain(byBob.id)
    expect(refusalOf(await replay(id, eve))).toEqual([404, "run_not_found"])
  })

  test("is refused when the input was not kept, or the version or the address no longer exists", async () => {
    const ada = await person()
    const made = await val(ada, { code: add, type: "http" })
    const request = { method: "POST", url: `${made.links.endpoint}/`, status: 200 }
    const cut = await run(made, { args: "[1,2,3… (cut, 200000 bytes in all)" })
    const large = await run(made, { source: "http", args: null, request, input: null })
    const kept = await run(made, { source: "http", args: null, request, input })
    expect(refusalOf(await replay(cut.id, ada))).toEqual([409, "not_replayable"])
    expect(refusalOf(await replay(large.id, ada))).toEqual([409, "not_replayable"])
    expectStatus(
      await call("PUT", `/v1/vals/${made.id}`, { as: ada, body: { type: "script" } }),
      204,
    )
    // Its own version is still of type http.
    expectStatus(await replay(kept.id, ada), 200)
    const ofScript = { as: ada, body: { version: 2 } }
    expect(refusalOf(await call("POST", `/v1/runs/${kept.id}/replay`, ofScript))).toEqual([
      409,
      "not_replayable",
    ])
    expectStatus(
      await call("POST", `/v1/vals/${made.id}/versions`, { as: ada, body: { code: "2" } }),
      201,
    )
    expectStatus(await call("DELETE", `/v1/vals/${made.id}/versions/1`, { as: ada }), 204)
    expect(refusalOf(await replay(kept.id, ada))).toEqual([409, "not_replayable"])
  })
}
