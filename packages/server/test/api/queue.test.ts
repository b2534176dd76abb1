import { describe, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { AppError } from "../../src/domain/app-error.ts"
import { expectStatus, openApi, type TestApi, type TestUser } from "../support/api.ts"
import { describeEachDatabase, type OpenDatabase, type TestDatabase } from "../support/databases.ts"
import { FakeRunner } from "../support/fakes/fake-runner.ts"

const respondAsync = { prefer: "respond-async" }
const add = "export default (a, b) => a + b"

/** A server whose vals run in this process, and what a test does with it. */
interface Stage extends AsyncDisposable {
  readonly api: TestApi
  readonly runner: FakeRunner
  readonly database: TestDatabase
  readonly ada: TestUser
  val(code: string, owner?: TestUser): Promise<string>
  enqueue(valId: string, body?: object, as?: TestUser): Promise<string>
  get(id: string, as?: TestUser): Promise<RunView>
  /** Waits until the run has that status, and returns it. */
  until(id: string, status: string): Promise<RunView>
  /** Makes all waiting runs due now. */
  hurry(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever they expect to be there
type RunView = any

async function openStage(open: OpenDatabase, env: Record<string, string> = {}): Promise<Stage> {
  const database = await open()
  const runner = new FakeRunner()
  const api = await openApi(async () => database, env, { runner })
  const ada = await api.addUser("ada")
  const get = async (id: string, as = ada) => (await api.call("GET", `/v1/runs/${id}`, { as })).json
  return {
    api,
    runner,
    database,
    ada,
    get,
    async val(code, owner = ada) {
      const body = { code, privacy: "public" }
      return expectStatus(await api.call("POST", "/v1/vals", { as: owner, body }), 200).json.id
    },
    async enqueue(valId, body = {}, as = ada) {
      const options = { as, body, headers: respondAsync }
      const response = await api.call("POST", `/v1/vals/${valId}/runs`, options)
      return expectStatus(response, 202).json.id
    },
    until: (id, status) =>
      waitUntil(async () => {
        const run = await get(id)
        return run.status === status ? run : undefined
      }),
    async hurry() {
      await database.db.write(function* () {
        yield sql`update runs set due_at = 0 where due_at is not null`
      })
      api.hamlet.nouns.queue.wake()
    },
    [Symbol.asyncDispose]: () => api.close(),
  }
}

describeEachDatabase("the queue", (open) => {
  describe("runs", () => defineRuns(open))
  describe("retries", () => defineRetries(open))
  describe("limits", () => defineLimits(open))
  describe("what happens meanwhile", () => defineChanges(open))
  describe("nodes", () => defineNodes(open))
})

function defineRuns(open: OpenDatabase): void {
  test("run with the arguments that they were queued with, however large", async () => {
    await using stage = await openStage(open)
    const { enqueue, until, val } = stage
    const id = await enqueue(await val(add), { args: [2, 3] })
    expect(await until(id, "succeeded")).toMatchObject({ returnValue: 5, attempt: 1, args: [2, 3] })
    const long = "é".repeat(100_000)
    const large = await enqueue(await val("export default (text) => text.length"), { args: [long] })
    expect(await until(large, "succeeded")).toMatchObject({ returnValue: 100_000 })
    const { json } = await stage.api.call("POST", `/v1/runs/${large}/replay`, { as: stage.ada })
    expect(json).toMatchObject({ code: "not_replayable" })
  })

  test("replay a run", async () => {
    await using stage = await openStage(open)
    const { enqueue, until, val, api, ada } = stage
    const id = await enqueue(await val(add), { args: [2, 3] })
    await until(id, "succeeded")
    const headers = respondAsync
    const response = await api.call("POST", `/v1/runs/${id}/replay`, { as: ada, headers })
    const replay = expectStatus(response, 202).json
    expect(replay).toMatchObject({ parentId: id, status: "queued" })
    expect(await until(replay.id, "succeeded")).toMatchObject({ returnValue: 5, parentId: id })
  })

  test("are queued once per Idempotency-Key", async () => {
    await using stage = await openStage(open)
    const { val, api, ada } = stage
    const path = `/v1/vals/${await val(add)}/runs`
    const headers = { ...respondAsync, "idempotency-key": "one" }
    const enqueue = async () =>
      expectStatus(await api.call("POST", path, { as: ada, headers }), 202).json.id
    const first = await enqueue()
    expect(await enqueue()).toBe(first)
    expect((await api.call("GET", path, { as: ada })).json.data).toHaveLength(1)
  })

  test("show in the metrics", async () => {
    await using stage = await openStage(open)
    await stage.until(await stage.enqueue(await stage.val(add)), "succeeded")
    const { text } = await stage.api.call("GET", "/metrics")
    expect(text).toContain('hamlet_queue_runs{state="due"} 0')
    expect(text).toContain("hamlet_queue_claims_total 1")
    expect(text).toContain('hamlet_queue_takeovers_total{outcome="crashed"} 0')
    expect(text).toContain("hamlet_queue_lease_losses_total 0")
  })
}

/** Fails until it was called so often. */
const failUntil = (count: number) => `const key = "hamlet test " + ${count}
export default () => {
  globalThis[key] = (globalThis[key] ?? 0) + 1
  console.log("attempt", globalThis[key])
  if (globalThis[key] < ${count}) throw new Error("not yet")
  delete globalThis[key]
  return "done"
}`

function defineRetries(open: OpenDatabase): void {
  test("attempt a failed run again in the same run, and keep what each attempt logged", async () => {
    await using stage = await openStage(open)
    const { enqueue, until, val, get, hurry } = stage
    const id = await enqueue(await val(failUntil(3)), { retries: 5 })
    await waitUntil(async () => (await get(id)).attempt === 2)
    expect(await get(id)).toMatchObject({ status: "queued", error: null, runEndAt: null })
    await hurry()
    await waitUntil(async () => (await get(id)).attempt === 3)
    await hurry()
    const run = await until(id, "succeeded")
    expect(run).toMatchObject({ attempt: 3, returnValue: "done", error: null })
    expect(run.logs.map(({ message }: { message: string }) => message)).toEqual([
      "attempt",
      expect.stringMatching(
        /^Attempt 1 ended as failed \(Error: not yet\); attempt 2 starts in \d s$/,
      ),
      "attempt",
      expect.stringMatching(/^Attempt 2 ended as failed /),
      "attempt",
    ])
  })

  test("end with the last error when all attempts have failed", async () => {
    await using stage = await openStage(open)
    const { enqueue, until, val, get, hurry } = stage
    const code = 'export default () => { throw new Error("never") }'
    const id = await enqueue(await val(code), { retries: 1 })
    await waitUntil(async () => (await get(id)).attempt === 2)
    await hurry()
    expect(await until(id, "failed")).toMatchObject({ attempt: 2, error: { message: "never" } })
  })

  test("are refused for a run that the caller waits for, and beyond their limit", async () => {
    await using stage = await openStage(open)
    const path = `/v1/vals/${await stage.val(add)}/runs`
    const refused = async (retries: number, headers: Record<string, string> = respondAsync) => {
      const body = { retries }
      return (await stage.api.call("POST", path, { as: stage.ada, body, headers })).status
    }
    expect(await refused(1, {})).toBe(400)
    expect([await refused(11), await refused(-1), await refused(0.5)]).toEqual([400, 400, 400])
    const waited = await stage.api.call("POST", path, { as: stage.ada, body: { retries: 0 } })
    expectStatus(waited, 200)
  })
}

const hang = 'export default async () => { console.log("begun"); await new Promise(() => {}) }'

function defineLimits(open: OpenDatabase): void {
  test("refuse runs of an account beyond the number that may wait", async () => {
    await using stage = await openStage(open, {
      HAMLET_QUEUE_RUNS_MAX: "1",
      HAMLET_QUEUED_RUNS_PER_ACCOUNT_MAX: "2",
    })
    const { enqueue, until, val, api, ada } = stage
    const valId = await val(hang)
    await until(await enqueue(valId), "running")
    await enqueue(valId)
    await enqueue(valId)
    const path = `/v1/vals/${valId}/runs`
    const refused = await api.call("POST", path, { as: ada, headers: respondAsync })
    expect(expectStatus(refused, 429).json).toMatchObject({ code: "queue_full" })
    const bob = await api.addUser("bob")
    await enqueue(valId, {}, bob)
  })

  test("let one account have a quarter of the places, so that others need not wait", async () => {
    await using stage = await openStage(open, { HAMLET_QUEUE_RUNS_MAX: "8" })
    const { enqueue, until, val, api, get } = stage
    const valId = await val(hang)
    const ids = []
    for (let count = 0; count < 20; count++) ids.push(await enqueue(valId))
    await until(ids[1] as string, "running")
    const bob = await api.addUser("bob")
    const quick = await enqueue(await val(add, bob), { args: [1, 2] }, bob)
    await waitUntil(async () => (await get(quick, bob)).status === "succeeded")
    const statuses = await Promise.all(ids.map(async (id) => (await get(id)).status))
    expect(statuses.filter((status) => status === "running")).toHaveLength(2)
  })

  test("put a run that gets no slot into the queue again", async () => {
    await using stage = await openStage(open)
    const { enqueue, until, val, runner, api } = stage
    runner.refusal = new AppError("too_many_runs", "Cannot run the val: too many runs")
    const id = await enqueue(await val(add), { args: [1, 2] })
    await waitUntil(() => api.hamlet.nouns.queue.stats().returned > 0)
    expect(await stage.get(id)).toMatchObject({ status: "queued", error: null, attempt: 1 })
    runner.refusal = undefined
    await stage.hurry()
    expect(await until(id, "succeeded")).toMatchObject({ returnValue: 3, attempt: 1 })
  })
}

function defineChanges(open: OpenDatabase): void {
  /** A server whose only place is taken, so that further runs wait. */
  async function openBusy() {
    const stage = await openStage(open, { HAMLET_QUEUE_RUNS_MAX: "1" })
    const first = await stage.enqueue(await stage.val(hang))
    await stage.until(first, "running")
    const free = () => stage.api.call("POST", `/v1/runs/${first}/cancel`, { as: stage.ada })
    return Object.assign(stage, { free })
  }

  test("a run that waits is cancelled at once", async () => {
    await using stage = await openBusy()
    const id = await stage.enqueue(await stage.val(add))
    const path = `/v1/runs/${id}/cancel`
    expect((await stage.api.call("POST", path, { as: stage.ada })).json).toEqual({ found: true })
    expect(await stage.get(id)).toMatchObject({ status: "cancelled", error: { name: "Cancelled" } })
    expect((await stage.api.call("POST", path, { as: stage.ada })).json).toEqual({ found: false })
  })

  test("a run whose version was deleted fails, and so does one whose val became private", async () => {
    await using stage = await openBusy()
    const { api, ada, enqueue, val, until, free } = stage
    const bob = await api.addUser("bob")
    const valId = await val(add)
    const [old, foreign] = [await enqueue(valId), await enqueue(valId, {}, bob)]
    await api.call("POST", `/v1/vals/${valId}/versions`, { as: ada, body: { code: hang } })
    await api.call("DELETE", `/v1/vals/${valId}/versions/1`, { as: ada })
    await api.call("PUT", `/v1/vals/${valId}`, { as: ada, body: { privacy: "private" } })
    await free()
    expect(await until(old, "failed")).toMatchObject({
      error: { name: "version_not_found", message: expect.stringContaining("Version 1") },
    })
    expect(await until(foreign, "failed")).toMatchObject({ error: { name: "val_not_found" } })
  })

  test("a run of a suspended account does not start", async () => {
    await using stage = await openBusy()
    const { api, enqueue, val, until } = stage
    const bob = await api.addUser("bob")
    const ids = [await enqueue(await val(add), {}, bob), await enqueue(await val(add, bob))]
    const path = `/v1/users/${bob.id}/suspension`
    expectStatus(await api.call("PUT", path, { as: api.admin, body: {} }), 204)
    await stage.free()
    for (const id of ids)
      expect(await until(id, "failed")).toMatchObject({ error: { name: "user_suspended" } })
  })

  test("a run of a deleted val is gone", async () => {
    await using stage = await openBusy()
    const { api, ada, enqueue, val, free, database } = stage
    const valId = await val(add)
    const id = await enqueue(valId)
    await api.call("DELETE", `/v1/vals/${valId}`, { as: ada })
    await free()
    await waitUntil(
      async () => (await database.db.read(sql`select id from runs where id = ${id}`)).length === 0,
    )
  })
}

function defineNodes(open: OpenDatabase): void {
  test("that stop return the runs that have not started, and another node runs them", async () => {
    const database = await open()
    const shared: OpenDatabase = async () => ({ ...database, close: async () => {} })
    const stage = await openStage(shared)
    const gate = Promise.withResolvers<void>()
    stage.runner.gate = gate.promise
    const id = await stage.enqueue(await stage.val(add), { args: [1, 2] })
    await waitUntil(() => stage.api.hamlet.nouns.queue.stats().active === 1)
    const next = await openApi(shared, {}, { runner: new FakeRunner() })
    await stage.api.close()
    gate.resolve()
    const { ada } = stage
    const run = await waitUntil(async () => {
      const { json } = await next.call("GET", `/v1/runs/${id}`, { as: ada })
      return json.status === "succeeded" ? json : undefined
    })
    expect(run).toMatchObject({ returnValue: 3, attempt: 1 })
    await next.close()
  })

  test("that were removed stop their runs, and record neither logs nor outcomes of them", async () => {
    await using stage = await openStage(open)
    const { enqueue, until, val, get, database, api } = stage
    const id = await enqueue(await val(hang))
    await until(id, "running")
    // Another node has taken the run, because this one was silent for too long.
    await database.db.write(function* () {
      yield sql`update runs set status = 'crashed', ended_at = 9, node_id = null, fence = fence + 1 where id = ${id}`
    })
    const live = api.hamlet.nouns.liveRuns.find(id)
    live?.log({ at: new Date().toISOString(), level: "log", message: "still here" })
    await waitUntil(() => api.hamlet.nouns.liveRuns.countLost() === 1)
    expect(live?.isLost).toBe(true)
    await waitUntil(() => api.hamlet.nouns.queue.stats().active === 0)
    const { status, logs } = await get(id)
    expect(status).toBe("crashed")
    expect(logs.map(({ message }: { message: string }) => message)).not.toContain("still here")
  })
}
