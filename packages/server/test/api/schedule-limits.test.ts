import { expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { expectStatus, openApi, type TestUser } from "../support/api.ts"
import { describeEachDatabase } from "../support/databases.ts"
import { FakeRunner } from "../support/fakes/fake-runner.ts"

const respondAsync = { prefer: "respond-async" }

describeEachDatabase("HAMLET_RUNS_PER_MINUTE, for schedules,", (open) => {
  async function openStage(runsPerMinute: number) {
    const database = await open()
    const api = await openApi(
      async () => database,
      { HAMLET_RUNS_PER_MINUTE: String(runsPerMinute) },
      { runner: new FakeRunner() },
    )
    const startedMs = performance.now()
    const { call, hamlet } = api
    const find = async (path: string, as: TestUser) =>
      expectStatus(await call("GET", path, { as }), 200).json
    return {
      api,
      call,
      find,
      /** The runs that an account may have started by now: the allowance refills evenly. */
      startedMax: () =>
        runsPerMinute + Math.ceil(((performance.now() - startedMs) / 60_000) * runsPerMinute),
      async addScheduled(owner: TestUser, code: string, schedule: object): Promise<string> {
        const body = { code, type: "interval", privacy: "private" }
        const { id } = expectStatus(await call("POST", "/v1/vals", { as: owner, body }), 200).json
        const put = { as: owner, body: schedule }
        expectStatus(await call("PUT", `/v1/vals/${id}/schedule`, put), 200)
        return id
      },
      /** Makes the schedule due, and waits until that due time has a run. */
      async fire(valId: string): Promise<void> {
        const count = async () =>
          (await database.db.read(sql`select id from runs where val_id = ${valId}`)).length
        const before = await count()
        await database.db.write(function* () {
          yield sql`update schedules set next_at = ${database.db.dialect.now} where val_id = ${valId}`
        })
        hamlet.parts.schedules.scheduleJob.wake()
        await waitUntil(async () => (await count()) > before)
      },
      /** Makes all waiting runs due now. */
      async hurry(): Promise<void> {
        await database.db.write(function* () {
          yield sql`update runs set due_at = 0 where due_at is not null`
        })
        hamlet.nouns.queue.wake()
      },
      [Symbol.asyncDispose]: () => api.close(),
    }
  }

  test("lets runs beyond it wait until the account has runs again, and counts them", async () => {
    await using stage = await openStage(2)
    const { api, call, find, fire, hurry } = stage
    const ada = await api.addUser("ada")
    const schedule = { every: "1d", overlap: "allow" }
    const valId = await stage.addScheduled(ada, "export default () => 1", schedule)
    const list = async () => (await find(`/v1/vals/${valId}/runs`, ada)).data
    const succeeded = async () =>
      (await list()).filter((run: { status: string }) => run.status === "succeeded").length
    for (let count = 0; count < 5; count++) await fire(valId)
    await waitUntil(async () => (await succeeded()) >= 2)
    await waitUntil(() => api.hamlet.nouns.queue.stats().returned > 0)
    expect(await succeeded()).toBeLessThanOrEqual(stage.startedMax())
    expect(await list()).toHaveLength(5)
    const { runs } = await find("/v1/me/usage", ada)
    expect(runs.sinceStart).toBeGreaterThanOrEqual(2)

    const quotas = { as: api.admin, body: { runsPerMinute: 60_000 } }
    expectStatus(await call("PUT", `/v1/users/${ada.id}/quotas`, quotas), 200)
    await waitUntil(async () => {
      await hurry()
      return (await succeeded()) === 5
    })
    expect((await find("/v1/me/usage", ada)).runs.sinceStart).toBe(5)
  })

  test("bounds a schedule that starts itself again and again", async () => {
    await using stage = await openStage(6)
    const { api, call } = stage
    const [ada, bob] = [await api.addUser("ada"), await api.addUser("bob")]
    const seen = { started: 0, statuses: new Set<number>() }
    // The code of a val with a token of its owner: due sooner and sooner, and queued by itself.
    const attack = async (valId: string) => {
      seen.started += 1
      const timings = [{ every: "1s" }, { cron: "* * * * * *" }]
      const body = { ...timings[seen.started % 2], overlap: "allow" }
      await call("PUT", `/v1/vals/${valId}/schedule`, { as: ada, body })
      for (let count = 0; count < 4; count++) {
        const options = { as: ada, headers: respondAsync, body: { args: [valId] } }
        const { status } = await call("POST", `/v1/vals/${valId}/runs`, options)
        seen.statuses.add(status)
      }
      return "again"
    }
    const name = `attack${Bun.randomUUIDv7().replaceAll("-", "")}`
    let id = ""
    Object.assign(globalThis, { [name]: () => attack(id) })
    try {
      const code = `export default () => globalThis.${name}()`
      id = await stage.addScheduled(ada, code, { every: "1d", overlap: "allow" })
      await stage.fire(id)
      await waitUntil(() => seen.statuses.has(429))
      for (let count = 0; count < 10; count++) await stage.fire(id)
      await waitUntil(() => api.hamlet.nouns.queue.stats().returned >= 5)
      await stage.hurry()
      const quick = { as: bob, body: { code: "export default () => 42" } }
      const other = expectStatus(await call("POST", "/v1/vals", quick), 200).json
      const run = await call("POST", `/v1/vals/${other.id}/runs`, { as: bob })
      expect(expectStatus(run, 200).json).toMatchObject({ returnValue: 42 })
      expect(seen.started).toBeLessThanOrEqual(stage.startedMax())
      const off = { as: ada, body: { isPaused: true } }
      expectStatus(await call("PUT", `/v1/vals/${id}/schedule`, off), 200)
    } finally {
      Reflect.deleteProperty(globalThis, name)
    }
  })
})
