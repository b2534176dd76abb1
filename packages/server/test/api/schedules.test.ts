import { expect, test } from "bun:test"
import { type Statement, sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { expectStatus, type TestUser } from "../support/api.ts"
import { describeSqliteApi } from "./suite.ts"

const idle = "export default () => 1"
/** Due in a long time, so that no test starts it by accident. */
const yearly = "0 0 1 1 *"

describeSqliteApi("schedules", ({ call, addUser, sharedUser, val }) => {
  const addVal = (owner: TestUser, fields: Record<string, unknown> = {}) =>
    val(owner, { code: idle, type: "interval", privacy: "private", ...fields })
  const put = (as: TestUser, valId: string, body: unknown) =>
    call("PUT", `/v1/vals/${valId}/schedule`, { as, body })
  const get = (as: TestUser, valId: string) => call("GET", `/v1/vals/${valId}/schedule`, { as })

  test("PUT creates a schedule, and GET shows it with its next ten times and in words", async () => {
    const ada = await addUser()
    const { id, name } = await addVal(ada)
    expect(expectStatus(await get(ada, id), 404).json.code).toBe("schedule_not_found")
    const body = { cron: "0 9 * * 1-5", timeZone: "Europe/Berlin" }
    const made = expectStatus(await put(ada, id, body), 200).json
    expect(made).toMatchObject({
      val: { id, name, privacy: "private", author: { username: ada.username } },
      ...body,
      every: null,
      isPaused: false,
      pausedReason: null,
      overlap: "skip",
      catchUp: "none",
      description: "every weekday at 09:00 in Europe/Berlin",
      lastRunAt: null,
      lastRunId: null,
      lastStatus: null,
      failureCount: 0,
      isFailing: false,
    })
    expect(made.nextAt.length).toBe(10)
    for (const [index, at] of made.nextAt.entries()) {
      expect(Date.parse(at)).toBeGreaterThan(Date.parse(made.nextAt[index - 1] ?? made.createdAt))
      expect(at).toMatch(/T0[78]:00:00\.000Z$/)
    }
    expect(expectStatus(await get(ada, id), 200).json).toEqual(made)
  })

  test("PUT changes only the fields that it has, and keeps due times that it does not change", async () => {
    const ada = await sharedUser()
    const { id } = await addVal(ada)
    const made = expectStatus(await put(ada, id, { every: "90m" }), 200).json
    expect(made.description).toBe("every 1 hour and 30 minutes")
    const changed = expectStatus(await put(ada, id, { overlap: "queue", catchUp: "one" }), 200).json
    expect(changed).toMatchObject({ overlap: "queue", catchUp: "one", nextAt: made.nextAt })
    // Setting the duration that it has already starts nothing anew.
    expect(expectStatus(await put(ada, id, { every: "90m" }), 200).json.nextAt).toEqual(made.nextAt)
    const paused = expectStatus(await put(ada, id, { isPaused: true }), 200).json
    expect(paused).toMatchObject({ isPaused: true, pausedReason: null, nextAt: [], every: "90m" })
    const resumed = expectStatus(await put(ada, id, { isPaused: false }), 200).json
    expect(resumed.nextAt.length).toBe(10)
    const cron = expectStatus(await put(ada, id, { cron: yearly }), 200).json
    expect(cron).toMatchObject({ cron: yearly, every: null, overlap: "queue" })
    const moved = expectStatus(await put(ada, id, { timeZone: "Asia/Tokyo" }), 200).json
    expect(moved).toMatchObject({ cron: yearly, timeZone: "Asia/Tokyo" })
    expect(moved.nextAt[0]).not.toBe(cron.nextAt[0])
  })

  test("PUT refuses what it cannot understand, and says which field is wrong", async () => {
    const ada = await sharedUser()
    const { id } = await addVal(ada)
    for (const [body, path] of [
      [{ cron: "61 * * * *" }, "cron"],
      [{ cron: "0 0 30 2 *" }, "cron"],
      [{ every: "soon" }, "every"],
      [{ cron: yearly, every: "1h" }, "every"],
      [{ cron: yearly, timeZone: "Nowhere" }, "timeZone"],
      [{ isPaused: true }, "cron"],
      [{ overlap: "never" }, "overlap"],
    ] as const) {
      const { json } = expectStatus(await put(ada, id, body), 400)
      expect([json.code, json.issues[0].path]).toEqual(["invalid_request", path])
    }
    expect(expectStatus(await put(ada, id, {}), 400).json.code).toBe("invalid_request")
    expect((await get(ada, id)).status).toBe(404)
  })

  test("only vals of type interval have schedules, and a change of the type stops one", async () => {
    const ada = await sharedUser()
    const { id } = await addVal(ada, { type: "script" })
    expect(expectStatus(await put(ada, id, { every: "1h" }), 409).json.code).toBe("not_interval")
    const change = (type: string) => call("PUT", `/v1/vals/${id}`, { as: ada, body: { type } })
    expectStatus(await change("interval"), 204)
    const { nextAt } = expectStatus(await put(ada, id, { every: "1h" }), 200).json
    expectStatus(await change("http"), 204)
    expect(expectStatus(await get(ada, id), 200).json).toMatchObject({
      isPaused: true,
      pausedReason: "The val is of type http; only a val of type interval has a schedule",
      nextAt: [],
    })
    expectStatus(await change("interval"), 204)
    expect(expectStatus(await get(ada, id), 200).json).toMatchObject({ isPaused: false, nextAt })
  })

  test("a schedule is visible to the val's owner only, also if the val is public", async () => {
    const [ada, bob] = [await addUser(), await addUser()]
    const { id } = await addVal(ada, { privacy: "public" })
    expectStatus(await put(ada, id, { every: "1h" }), 200)
    expect(expectStatus(await get(bob, id), 403).json).toMatchObject({
      code: "not_owner",
      message: expect.stringContaining("Cannot show the schedule of val"),
    })
    expect(expectStatus(await put(bob, id, { isPaused: true }), 403).json.code).toBe("not_owner")
    expectStatus(await call("DELETE", `/v1/vals/${id}/schedule`, { as: bob }), 403)
    const list = expectStatus(await call("GET", "/v1/me/schedules", { as: bob }), 200)
    expect(list.json.data).toEqual([])
  })

  test("GET /v1/me/schedules lists the caller's schedules, newest first, each once", async () => {
    const ada = await addUser()
    const ids: string[] = []
    for (let index = 0; index < 5; index++) {
      const { id } = await addVal(ada)
      expectStatus(await put(ada, id, { cron: yearly }), 200)
      ids.unshift(id)
    }
    const found: string[] = []
    let path: string | undefined = "/v1/me/schedules?limit=2"
    while (path !== undefined) {
      const { json } = expectStatus(await call("GET", path, { as: ada }), 200)
      for (const one of json.data) {
        found.push(one.val.id)
        expect(one.nextAt.length).toBe(1)
      }
      path = json.links.next && new URL(json.links.next).pathname + new URL(json.links.next).search
    }
    expect(found.toSorted()).toEqual(ids.toSorted())
    expect(found[0]).toBe(ids[0] as string)
  })

  test("DELETE removes a schedule, and so does deleting the val", async () => {
    const ada = await addUser()
    const [one, two] = [await addVal(ada), await addVal(ada)]
    for (const { id } of [one, two]) expectStatus(await put(ada, id, { cron: yearly }), 200)
    expectStatus(await call("DELETE", `/v1/vals/${one.id}/schedule`, { as: ada }), 204)
    expectStatus(await call("DELETE", `/v1/vals/${one.id}/schedule`, { as: ada }), 404)
    expectStatus(await call("DELETE", `/v1/vals/${two.id}`, { as: ada }), 204)
    const list = expectStatus(await call("GET", "/v1/me/schedules", { as: ada }), 200)
    expect(list.json.data).toEqual([])
  })

  test("GET /v1/schedules/preview explains an expression without saving it", async () => {
    const ada = await sharedUser()
    const preview = (query: string) => call("GET", `/v1/schedules/preview?${query}`, { as: ada })
    const cron = encodeURIComponent("*/20 * * * *")
    const { json } = expectStatus(await preview(`cron=${cron}&timeZone=Asia/Kolkata`), 200)
    expect(json.description).toBe("every 20 minutes in Asia/Kolkata")
    expect(json.nextAt.length).toBe(10)
    expect(expectStatus(await preview("every=2h"), 200).json.nextAt.length).toBe(10)
    expect(expectStatus(await preview("cron=nonsense"), 400).json.issues[0].path).toBe("cron")
    expectStatus(await preview(""), 400)
  })
})

describeSqliteApi(
  "schedules of a user",
  ({ call, addUser, val }) => {
    test("are limited in number and frequency", async () => {
      const ada = await addUser()
      const vals: { readonly id: string }[] = []
      for (let index = 0; index < 4; index++)
        vals.push(await val(ada, { code: idle, type: "interval" }))
      const put = (index: number, body: unknown) =>
        call("PUT", `/v1/vals/${vals[index]?.id}/schedule`, { as: ada, body })
      expectStatus(await put(0, { every: "29s" }), 400)
      expectStatus(await put(0, { cron: "*/10 * * * * *" }), 400)
      const results = await Promise.all(vals.map((_, index) => put(index, { every: "1h" })))
      expect(results.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 409])
      expect(results.find(({ status }) => status === 409)?.json.code).toBe("too_many_schedules")
      // One that exists can still be changed.
      const index = results.findIndex(({ status }) => status === 200)
      expectStatus(await put(index, { every: "2h" }), 200)
    })
  },
  { HAMLET_SCHEDULES_PER_USER_MAX: "3", HAMLET_SCHEDULE_SECONDS_MIN: "30" },
)

describeSqliteApi("a val of type interval", (suite) => {
  const { call, addUser, val } = suite
  const write = (statement: Statement) =>
    suite.database.db.write(function* () {
      yield statement
    })
  const isSucceeded = (run: { status: string }) => run.status === "succeeded"

  test("runs at its due times as its owner, with dates and the owner's secrets", async () => {
    const ada = await addUser()
    expectStatus(
      await call("PUT", "/v1/me/secrets/GREETING", { as: ada, body: { value: "good morning" } }),
      204,
    )
    const code = `export default ({ lastRunAt, scheduledAt }) => [
      lastRunAt instanceof Date, scheduledAt instanceof Date, scheduledAt.getTime() % 1000,
      Deno.env.get("GREETING").length,
    ]`
    const { id } = await val(ada, { code, type: "interval", privacy: "private" })
    const put = (body: unknown) => call("PUT", `/v1/vals/${id}/schedule`, { as: ada, body })
    expectStatus(await put({ cron: "* * * * * *" }), 200)
    const list = async () =>
      (await call("GET", `/v1/vals/${id}/runs?source=interval`, { as: ada })).json.data
    await waitUntil(async () => (await list()).filter(isSucceeded).length >= 2)
    expectStatus(await put({ isPaused: true }), 200)
    const oldest: { id: string }[] = (await list()).filter(isSucceeded).reverse().slice(0, 2)
    const [first, second] = await Promise.all(
      oldest.map(async (run) => (await call("GET", `/v1/runs/${run.id}`, { as: ada })).json),
    )
    expect(first.returnValue).toEqual([false, true, 0, 12])
    expect(second.returnValue).toEqual([true, true, 0, 12])
    expect(Object.keys(second.args[0])).toEqual(["lastRunAt", "scheduledAt"])
    const schedule = (await call("GET", `/v1/vals/${id}/schedule`, { as: ada })).json
    expect(schedule).toMatchObject({ failureCount: 0, isPaused: true })
    expect(schedule.lastRunAt).not.toBeNull()
  })

  test("gets the same argument when it is tried out without arguments", async () => {
    const ada = await addUser()
    const code = `export default (...args) =>
      args.map((arg) => [arg?.scheduledAt instanceof Date, arg?.lastRunAt instanceof Date])`
    const { id, name } = await val(ada, { code, type: "interval", privacy: "private" })
    const run = async (body: unknown, headers = {}) =>
      (await call("POST", `/v1/vals/${id}/runs`, { as: ada, body, headers })).json
    expect((await run({})).returnValue).toEqual([[true, false]])
    const again = await run({ args: [] })
    expect(again.returnValue).toEqual([[true, true]])
    expect(again.source).toBe("api")
    expect((await run({ args: [1] })).returnValue).toEqual([[false, false]])
    const path = `/v1/run/${ada.username}.${name}`
    expect((await call("POST", path, { as: ada, body: {} })).json).toEqual([[true, true]])
    const queued = await run({}, { prefer: "respond-async" })
    const find = async () => (await call("GET", `/v1/runs/${queued.id}`, { as: ada })).json
    await waitUntil(async () => (await find()).status === "succeeded")
    expect((await find()).returnValue).toEqual([[true, true]])
    const replay = expectStatus(await call("POST", `/v1/runs/${again.id}/replay`, { as: ada }), 200)
    expect(replay.json.returnValue).toEqual([[true, true]])
  })

  test("is paused with a reason and an event after 100 failures in a row", async () => {
    const ada = await addUser()
    const { id } = await val(ada, { code: "throw new Error('broken')", type: "interval" })
    const { id: target } = await val(ada, { code: "export default (event) => event.type" })
    const events = ["schedule.failing", "schedule.paused"]
    const body = { targetValId: target, events }
    const webhook = expectStatus(await call("POST", "/v1/me/webhooks", { as: ada, body }), 201).json
    const put = (change: unknown) =>
      call("PUT", `/v1/vals/${id}/schedule`, { as: ada, body: change })
    const get = async () => (await call("GET", `/v1/vals/${id}/schedule`, { as: ada })).json
    const setFailures = (count: number) =>
      write(sql`update schedules set failure_count = ${count} where val_id = ${id}`)
    const listEvents = async () => {
      const path = `/v1/me/webhooks/${webhook.id}/deliveries`
      const { json } = expectStatus(await call("GET", path, { as: ada }), 200)
      return json.data.map(({ type }: { type: string }) => type).toSorted()
    }
    expectStatus(await put({ every: "300d" }), 200)
    await setFailures(9)
    expectStatus(await put({ cron: "* * * * * *" }), 200)
    // The new timing counts anew.
    expect((await get()).failureCount).toBeLessThan(3)
    await setFailures(9)
    await waitUntil(async () => (await get()).isFailing)
    await setFailures(99)
    const paused = await waitUntil(async () => {
      const schedule = await get()
      return schedule.isPaused && schedule
    })
    expect(paused.pausedReason).toMatch(/^The last 1\d\d runs failed$/)
    expect(paused).toMatchObject({ lastStatus: "failed", nextAt: [], isFailing: true })
    await waitUntil(async () => (await listEvents()).length === 2)
    expect(await listEvents()).toEqual(events)
    expectStatus(await put({ every: "300d", isPaused: false }), 200)
    expect(await get()).toMatchObject({ failureCount: 0, isFailing: false, pausedReason: null })
  })
})
