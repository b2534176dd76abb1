import { expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import type { RunRecord } from "../../src/domain/runs/runs.ts"
import { expectStatus, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeSqliteApi, refusalOf, type ValView } from "./suite.ts"

/** Responds with the request that it got. */
const mirror = `export default async (request) => {
  const { pathname, search } = new URL(request.url)
  const headers = Object.fromEntries([...request.headers].filter(([name]) => name.startsWith("x-") || name === "cookie"))
  return Response.json({ method: request.method, path: pathname + search, headers, body: await request.text() })
}`

const asked = { method: "POST", status: 200 }
const input = {
  headers: [
    ["content-type", "text/plain"],
    ["x-one", "1"],
  ] as const,
  body: Buffer.from("hello").toString("base64"),
}

describeSqliteApi("api/replay-changes", (suite) => {
  const { call, addUser: person, val, run } = suite
  const replay = (id: string, as: TestUser, body: object, headers = {}) =>
    call("POST", `/v1/runs/${id}/replay`, { as, body, headers })

  /** A recorded request to a val that mirrors it. */
  async function withRequest(owner: TestUser, fields: Partial<RunRecord> = {}) {
    const made = await val(owner, { code: mirror, type: "http" })
    const request = { ...asked, url: `${made.links.endpoint}/a?b=c` }
    const recorded = await run(made, { source: "http", args: null, request, input, ...fields })
    return { made, id: recorded.id }
  }

  /** What the val got from a replay. */
  async function seen(id: string, as: TestUser, changes: object) {
    const { json } = expectStatus(await replay(id, as, changes), 200)
    expect(json).toMatchObject({ status: "succeeded", parentId: id })
    const { headers, ...rest } = JSON.parse(json.responseContent.body)
    const own = Object.entries(headers).filter(([name]) => !name.startsWith("x-forwarded-"))
    return { ...rest, headers: Object.fromEntries(own) }
  }

  test("calls a val with other arguments, or in another version", async () => {
    const ada = await person()
    const made = await withTwoVersions(suite, ada)
    const { id } = await run(made, { args: [2, 3] })
    for (const [changes, args, returnValue, version] of [
      [{}, [2, 3], 5, 1],
      [{ args: [4, 5] }, [4, 5], 9, 1],
      [{ version: 2 }, [2, 3], 6, 2],
      [{ args: [4, 5], version: 2 }, [4, 5], 20, 2],
      [{ args: [] }, [], null, 1],
    ] as const)
      expect(expectStatus(await replay(id, ada, changes), 200).json).toMatchObject({
        parentId: id,
        args,
        returnValue,
        val: { version },
      })
    expect(refusalOf(await replay(id, ada, { version: 3 }))).toEqual([404, "version_not_found"])
  })

  test("calls a val with arguments that are too large to record, at once and from the queue", async () => {
    const ada = await person()
    const made = await val(ada, { code: "export default (text) => text.length" })
    const { id } = await run(made, { args: [""] })
    const args = ["x".repeat(limits.runValueBytesMax + 1)]
    const { json } = expectStatus(await replay(id, ada, { args }), 200)
    expect(json.returnValue).toBe(args[0]?.length)
    const queued = await replay(id, ada, { args }, { prefer: "respond-async" })
    const path = `/v1/runs/${expectStatus(queued, 202).json.id}`
    await waitUntil(async () => (await call("GET", path, { as: ada })).json.status === "succeeded")
    expect((await call("GET", path, { as: ada })).json.returnValue).toBe(args[0]?.length)
  })

  test("sends another request; what is not changed stays", async () => {
    const ada = await person()
    const { id } = await withRequest(ada)
    const before = { method: "POST", path: "/a?b=c", headers: { "x-one": "1" }, body: "hello" }
    expect(await seen(id, ada, {})).toEqual(before)
    expect(await seen(id, ada, { method: "put", path: "/x%20y?z=1" })).toEqual({
      ...before,
      method: "PUT",
      path: "/x%20y?z=1",
    })
    expect(await seen(id, ada, { headers: { "X-Two": "2" }, body: "é" })).toEqual({
      ...before,
      headers: { "x-two": "2" },
      body: "é",
    })
    expect(await seen(id, ada, { bodyBase64: "aGk=" })).toEqual({ ...before, body: "hi" })
    expect(await seen(id, ada, { method: "GET" })).toEqual({ ...before, method: "GET", body: "" })
  })

  test("records the changed request, which can be replayed in turn", async () => {
    const ada = await person()
    const { id } = await withRequest(ada)
    const changes = { path: "/other", headers: [["x-two", "2"]], body: "changed" }
    const { json } = expectStatus(await replay(id, ada, changes), 200)
    expect(json.request.url).toEndWith("/other")
    expect(json.requestContent).toMatchObject({ headers: [["x-two", "2"]], body: "changed" })
    expect(await seen(json.id, ada, { method: "PATCH" })).toMatchObject({
      method: "PATCH",
      path: "/other",
      body: "changed",
    })
  })

  test("sends credentials without storing them, and refuses to queue them", async () => {
    const ada = await person()
    const { id } = await withRequest(ada)
    const headers = { cookie: "login=hidden-value", "x-api-key": "hidden-value", "x-mine": "stays" }
    const { json } = expectStatus(await replay(id, ada, { headers }), 200)
    expect(JSON.parse(json.responseContent.body).headers).toMatchObject(headers)
    expect(json.requestContent.headers).toEqual([["x-mine", "stays"]])
    const stored = await suite.api.hamlet.stores.runs.findInput(json.id)
    expect(JSON.stringify(stored)).not.toContain("hidden-value")
    const queued = await replay(id, ada, { headers }, { prefer: "respond-async" })
    expect(refusalOf(queued)).toEqual([400, "invalid_request"])
    expect(queued.text).not.toContain("hidden-value")
    const plain = await replay(id, ada, { path: "/later" }, { prefer: "respond-async" })
    expect(expectStatus(plain, 202).json.request.url).toEndWith("/later")
  })

  for (const [changes, path] of [
    [{ method: "GET", body: "x" }, "body"],
    [{ body: "x".repeat(65_537) }, "body"],
    [{ body: "x", bodyBase64: "eA==" }, "bodyBase64"],
    [{ path: `/${"x".repeat(2_048)}` }, "path"],
    [{ path: "//other.test#x" }, "path"],
    [{ method: "TRACE" }, "method"],
    [{ headers: [["x-long", "x".repeat(8_192)]] }, "headers"],
    [{ args: [1] }, "args"],
  ] as const) {
    test(`names ${path} as the wrong part of ${JSON.stringify(changes).slice(0, 50)}`, async () => {
      const ada = await suite.sharedUser()
      const { id } = await withRequest(ada)
      const refused = await replay(id, ada, changes)
      expect(refusalOf(refused)).toEqual([400, "invalid_request"])
      expect(refused.json.issues.map((issue: { path: string }) => issue.path)).toEqual([path])
    })
  }

  test("refuses the parts of a request for a call, and arguments for a scheduled run", async () => {
    const ada = await person()
    const made = await val(ada)
    const called = await run(made, { args: [] })
    for (const part of ["method", "path", "headers", "body"]) {
      const value = { method: "GET", path: "/", headers: {}, body: "x" }[part]
      const refused = await replay(called.id, ada, { [part]: value })
      expect([...refusalOf(refused), refused.json.issues[0].path]).toEqual([
        400,
        "invalid_request",
        part,
      ])
    }
    const scheduled = await run(made, {
      source: "interval",
      input: { kind: "interval", scheduledAt: 1, lastRunAt: null },
    })
    const refused = await replay(scheduled.id, ada, { args: [1] })
    expect([...refusalOf(refused), refused.json.issues[0].path]).toEqual([
      400,
      "invalid_request",
      "args",
    ])
  })

  test("replaces a request that was not stored, if all of it is given", async () => {
    const ada = await person()
    const { id } = await withRequest(ada, { input: null })
    const whole = { headers: { "x-two": "2" }, body: "new" }
    for (const changes of [{}, { headers: {} }, { body: "new" }, { method: "GET" }])
      expect(refusalOf(await replay(id, ada, changes))).toEqual([409, "not_replayable"])
    expect(await seen(id, ada, whole)).toEqual({ method: "POST", path: "/a?b=c", ...whole })
    expect(await seen(id, ada, { method: "GET", headers: {} })).toMatchObject({ method: "GET" })
    const long = { ...asked, url: `http://x.hamlet.test/${"x".repeat(3_000)}`.slice(0, 2_048) }
    const cut = await withRequest(ada, { input: null, request: long })
    expect(refusalOf(await replay(cut.id, ada, whole))).toEqual([409, "not_replayable"])
    expect(await seen(cut.id, ada, { ...whole, path: "/short" })).toMatchObject({ path: "/short" })
  })

  test("is for those who may see the run", async () => {
    const [ada, bob] = [await person(), await person()]
    const { made, id } = await withRequest(ada)
    const called = await run(await withTwoVersions(suite, ada), { accountId: bob.id, args: [2, 3] })
    expect(refusalOf(await replay(id, bob, { path: "/x" }))).toEqual([404, "run_not_found"])
    const byBob = expectStatus(await replay(called.id, bob, { args: [1, 1], version: 2 }), 200)
    expect(byBob.json).toMatchObject({ returnValue: 1, val: { username: ada.username } })
    const hide = { privacy: "private" }
    expectStatus(await call("PUT", `/v1/vals/${called.valId}`, { as: ada, body: hide }), 204)
    for (const changes of [{ args: [1, 1] }, { version: 2 }])
      expect(refusalOf(await replay(called.id, bob, changes))).toEqual([404, "run_not_found"])
    expectStatus(await call("DELETE", `/v1/vals/${made.id}`, { as: ada }), 204)
    expect(refusalOf(await replay(id, ada, { path: "/x" }))).toEqual([404, "run_not_found"])
  })
})

/** Version 1 adds, version 2 multiplies. */
async function withTwoVersions({ call, val }: ApiSuite, owner: TestUser): Promise<ValView> {
  const made = await val(owner, { code: "export default (a, b) => a + b" })
  const body = { code: "export default (a, b) => a * b" }
  expectStatus(await call("POST", `/v1/vals/${made.id}/versions`, { as: owner, body }), 201)
  return made
}
