import { expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { expectStatus, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeApi, describeSqliteApi } from "./suite.ts"

const echo =
  "export default ({ lastRunAt }) => [import.meta.url.split('/').at(-1), lastRunAt ?? null]"

/** A val of a user, with its files and their schedules. */
async function openVal({ call, database, api }: ApiSuite, owner: TestUser) {
  const as = owner
  const name = `val${Bun.randomUUIDv7().replaceAll("-", "")}`
  const body = { name, privacy: "private" }
  const { id } = expectStatus(await call("POST", "/v2/vals", { as, body }), 201).json
  const files = `/v2/vals/${id}/files`
  const at = (path: string, branchId: string = id) =>
    `${files}?path=${encodeURIComponent(path)}&branch_id=${branchId}`
  const place = (path?: string, branch?: string) => {
    const query = new URLSearchParams({ ...(path && { file: path }), ...(branch && { branch }) })
    return `/v1/vals/${id}/schedule?${query}`
  }
  /** The runs with which schedules have begun. */
  const first = new Set<string>()
  return {
    id: id as string,
    files,
    at,
    /** Adds a file, and waits for the run with which its schedule begins. */
    async add(path: string, type = "interval", content = echo, branchId: string = id) {
      const made = await call("POST", at(path, branchId), { as, body: { type, content } })
      const file = expectStatus(made, 201).json as Added
      expect(file.schedule !== undefined).toBe(type === "interval")
      if (file.schedule && !file.schedule.isPaused)
        first.add(
          await waitUntil(async () => {
            const { lastRunId, lastStatus } = (await call("GET", place(path), { as })).json
            return ["succeeded", "failed"].includes(lastStatus) && lastRunId
          }),
        )
      return file
    },
    change: async (path: string, change: object, branchId: string = id) =>
      expectStatus(await call("PUT", at(path, branchId), { as, body: change }), 200).json,
    remove: async (path: string) =>
      expectStatus(await call("DELETE", `${at(path)}&recursive=true`, { as }), 204),
    async branch(name: string): Promise<string> {
      const made = await call("POST", `/v2/vals/${id}/branches`, { as, body: { name } })
      return expectStatus(made, 201).json.id
    },
    get: (path?: string, branch?: string) => call("GET", place(path, branch), { as }),
    put: (body: unknown, path?: string, branch?: string) =>
      call("PUT", place(path, branch), { as, body }),
    delete: (path?: string, branch?: string) => call("DELETE", place(path, branch), { as }),
    async listPaths(): Promise<readonly string[]> {
      const { json } = expectStatus(await call("GET", "/v1/me/schedules", { as }), 200)
      return json.data
        .map((one: Found) => `${one.branch.name} ${one.file.path} ${one.isPaused}`)
        .toSorted()
    },
    /** Makes these schedules due in one statement. */
    async makeDue(...fileIds: readonly string[]): Promise<void> {
      const { db } = database
      await db.write(function* () {
        for (const fileId of fileIds)
          yield sql`update schedules set next_at = ${db.dialect.now} where file_id = ${fileId}`
      })
      api.hamlet.parts.schedules.scheduleJob.wake()
    },
    /** Waits for that many scheduled runs that have ended, and returns them. */
    runs: (count: number): Promise<readonly FoundRun[]> =>
      waitUntil(async () => {
        const { json } = await call("GET", `/v1/vals/${id}/runs?source=interval`, { as })
        const ended = json.data.filter(
          (run: FoundRun) => run.runEndAt !== null && !first.has(run.id),
        )
        return ended.length >= count && ended
      }),
  }
}

interface Added {
  readonly id: string
  readonly schedule?: { readonly isPaused: boolean; readonly nextAt: string | null }
}

interface Found {
  readonly isPaused: boolean
  readonly file: { readonly path: string }
  readonly branch: { readonly name: string }
}

interface FoundRun extends Omit<Found, "isPaused"> {
  readonly id: string
  readonly status: string
  readonly runEndAt: string | null
}

const toPlace = ({ file, branch, status }: FoundRun) => `${branch.name} ${file.path} ${status}`

describeApi("schedules of files", (suite) => {
  const { call, addUser, val } = suite

  test("a file that becomes one of type interval on main has an hourly schedule that runs at once", async () => {
    const ada = await addUser()
    const it = await openVal(suite, ada)
    const { id } = await it.add("main.tsx", "script")
    expect((await it.get()).status).toBe(404)
    const { schedule } = await it.change("main.tsx", { type: "interval" })
    expect(schedule).toEqual({
      fileId: id,
      every: "1h",
      cron: null,
      timeZone: "UTC",
      isPaused: false,
      pausedReason: null,
      nextAt: expect.any(String),
    })
    const [begun] = await it.runs(1)
    expect(begun && toPlace(begun)).toBe("main main.tsx succeeded")
    const made = expectStatus(await it.get(), 200).json
    expect(made).toMatchObject({
      val: { id: it.id },
      file: { id, path: "main.tsx" },
      branch: { name: "main" },
      every: "1h",
      cron: null,
      timeZone: "UTC",
      isPaused: false,
      lastRunId: begun?.id,
    })
    expect(made.nextAt.length).toBe(10)
    expect(Date.parse(made.nextAt[0]) - Date.parse(schedule.nextAt)).toBe(3_600_000)
    expect(expectStatus(await it.get("main.tsx", "Main"), 200).json).toEqual(made)

    await it.makeDue(id)
    const [run] = await it.runs(2)
    expect(run && toPlace(run)).toBe("main main.tsx succeeded")
    const after = expectStatus(await it.get(), 200).json
    expect(after).toMatchObject({ lastRunId: run?.id, lastStatus: "succeeded" })
  })

  test("files that are restored or imported wait for their due times", async () => {
    const ada = await addUser()
    const it = await openVal(suite, ada)
    await it.add("job.ts")
    await it.remove("job.ts")
    const restore = `/v1/vals/${it.id}/versions/1/restore`
    expectStatus(await call("POST", restore, { as: ada, body: {} }), 200)
    const changes = [{ path: "other.ts", type: "interval", content: echo }]
    const body = { changes, isImport: true }
    const saved = await call("POST", `/v1/vals/${it.id}/files`, { as: ada, body })
    expect(expectStatus(saved, 200).json.schedules).toMatchObject([{ isPaused: false }])
    for (const path of ["job.ts", "other.ts"]) {
      const { isPaused, lastRunAt, createdAt, nextAt } = (await it.get(path)).json
      expect([isPaused, lastRunAt]).toEqual([false, null])
      expect(Date.parse(nextAt[0]) - Date.parse(createdAt)).toBe(3_600_000)
    }
  })

  test("a file that is tried out learns when it ran before, not when another did", async () => {
    const ada = await addUser()
    const it = await openVal(suite, ada)
    const dev = await it.branch("dev")
    for (const path of ["a.ts", "b.ts"]) await it.add(path, "interval", echo, dev)
    const run = async (file: string) => {
      const body = { file, branch: "dev" }
      const { json } = await call("POST", `/v1/vals/${it.id}/runs`, { as: ada, body })
      return json.returnValue[1]
    }
    expect(await run("a.ts")).toBeNull()
    expect(await run("b.ts")).toBeNull()
    expect(await run("a.ts")).toEqual(expect.any(String))
  })

  test("two files of a val that are due at once both run, and count for themselves", async () => {
    const ada = await addUser()
    const it = await openVal(suite, ada)
    const one = await it.add("jobs/one.ts")
    const two = await it.add("jobs/two.ts", "interval", "throw new Error('broken')")
    await it.makeDue(one.id, two.id)
    const runs = await it.runs(2)
    expect(runs.map(toPlace).toSorted()).toEqual([
      "main jobs/one.ts succeeded",
      "main jobs/two.ts failed",
    ])
    const read = async (path: string) => expectStatus(await it.get(path), 200).json
    await waitUntil(async () => (await read("jobs/two.ts")).failureCount === 2)
    const [first, second] = [await read("jobs/one.ts"), await read("jobs/two.ts")]
    expect([first.failureCount, first.lastStatus]).toEqual([0, "succeeded"])
    expect([second.failureCount, second.lastStatus]).toEqual([2, "failed"])
    // The second run of a file knows when its own first one was, not that of another file.
    await it.makeDue(one.id)
    const [again] = (await it.runs(3)).filter(({ id }) => runs.every((run) => run.id !== id))
    const detail = await call("GET", `/v1/runs/${again?.id}`, { as: ada })
    expect(expectStatus(detail, 200).json.returnValue).toEqual(["one.ts", first.lastRunAt])
  })

  test("the schedules of a branch are paused until they are started, and go with it", async () => {
    const ada = await addUser()
    const it = await openVal(suite, ada)
    await it.add("main.tsx")
    expectStatus(await it.put({ cron: "0 9 * * *", overlap: "queue" }), 200)
    await it.add("jobs/plain.ts")
    expectStatus(await it.delete("jobs/plain.ts"), 204)
    const dev = await it.branch("dev")
    expect(expectStatus(await it.get(undefined, "dev"), 200).json).toMatchObject({
      file: { path: "main.tsx" },
      branch: { id: dev, name: "dev" },
      cron: "0 9 * * *",
      overlap: "queue",
      isPaused: true,
      pausedReason: null,
      nextAt: [],
    })
    const copy = expectStatus(await it.get("jobs/plain.ts", "dev"), 200).json
    expect(copy).toMatchObject({ every: "1h", isPaused: true })
    const { id: added } = await it.add("jobs/more.ts", "interval", echo, dev)
    expect(expectStatus(await it.get("jobs/more.ts", "dev"), 200).json.isPaused).toBe(true)
    expect(await it.listPaths()).toEqual([
      "dev jobs/more.ts true",
      "dev jobs/plain.ts true",
      "dev main.tsx true",
      "main main.tsx false",
    ])

    const started = expectStatus(await it.put({ isPaused: false }, "jobs/more.ts", "dev"), 200)
    expect(started.json.nextAt.length).toBe(10)
    await it.makeDue(added)
    const [run] = await it.runs(1)
    expect(run && toPlace(run)).toBe("dev jobs/more.ts succeeded")

    expectStatus(await call("DELETE", `/v2/vals/${it.id}/branches/${dev}`, { as: ada }), 204)
    expect(await it.listPaths()).toEqual(["main main.tsx false"])
    expect(expectStatus(await it.get("jobs/more.ts", "dev"), 404).json.code).toBe(
      "schedule_not_found",
    )
    const put = await it.put({ every: "1h" }, "jobs/more.ts", "dev")
    expect(expectStatus(put, 404).json.code).toBe("branch_not_found")
  })

  test("runs, statistics, logs, events and notifications name the file and its branch", async () => {
    const ada = await addUser()
    const it = await openVal(suite, ada)
    const code = "console.log('hi'); throw new Error('broken')"
    await it.add("main.tsx", "interval", code)
    const dev = await it.branch("dev")
    const { id: fileId } = await it.add("jobs/job.ts", "interval", code, dev)
    const { id: target } = await val(ada, { code: "export default (event) => event.data" })
    const hook = { targetValId: target, valId: it.id, events: ["run.failed", "schedule.failing"] }
    expectStatus(await call("POST", "/v1/me/webhooks", { as: ada, body: hook }), 201)
    expectStatus(await it.put({ isPaused: false }, "jobs/job.ts", "dev"), 200)
    const { db } = suite.database
    await db.write(function* () {
      yield sql`update schedules set failure_count = 9 where file_id = ${fileId}`
    })
    await it.makeDue(fileId)
    const [run] = await it.runs(1)
    const read = async (path: string) =>
      expectStatus(await call("GET", path, { as: ada }), 200).json
    expectStatus(await call("POST", `/v1/vals/${it.id}/runs`, { as: ada, body: {} }), 200)

    const list = async (path: string) => (await read(path)).data.map((one: FoundRun) => one.id)
    for (const filter of [
      `file_id=${fileId}`,
      `branch_id=${dev}`,
      `branch_id=${dev}&status=failed`,
    ]) {
      expect(await list(`/v1/vals/${it.id}/runs?${filter}`)).toEqual([run?.id])
      expect(await list(`/v1/me/runs?val_id=${it.id}&${filter}`)).toEqual([run?.id])
    }
    expect(await list(`/v1/vals/${it.id}/runs?branch_id=${it.id}`)).toHaveLength(2)
    expect(await list(`/v1/vals/${it.id}/runs?file_id=${dev}`)).toEqual([])
    const count = async (filter: string) =>
      (await read(`/v1/vals/${it.id}/stats?${filter}`)).total.runs
    expect([await count(""), await count(`branch_id=${dev}`)]).toEqual([3, 1])
    expect([await count(`file_id=${fileId}`), await count(`file_id=${dev}`)]).toEqual([1, 0])

    const place = { file: { id: fileId, path: "jobs/job.ts" }, branch: { id: dev, name: "dev" } }
    const logs: { runId: string }[] = (await read("/v1/me/logs")).data
    expect(logs.find(({ runId }) => runId === run?.id)).toMatchObject(place)
    const replay = await call("POST", `/v1/runs/${run?.id}/replay`, { as: ada })
    expect(expectStatus(replay, 200).json).toMatchObject({ ...place, parentId: run?.id })
    const notified = await waitUntil(async () => {
      const { data } = await read("/v1/me/notifications")
      return data.find(({ type }: { type: string }) => type === "schedule.failing")
    })
    expect(notified).toMatchObject({ ...place, val: { id: it.id } })
    const events = await waitUntil(async () => {
      const ids = await list(`/v1/vals/${target}/runs?status=succeeded`)
      const details = await Promise.all(ids.map((id: string) => read(`/v1/runs/${id}`)))
      const data = details.map(({ returnValue }) => returnValue)
      return data.some(({ reason }) => reason) && data.some((one) => one.run?.file) && data
    })
    expect(events.find(({ reason }) => reason)).toMatchObject(place)
    expect(events.find((one) => one.run?.id === run?.id)?.run).toMatchObject(place)
  })

  test("a schedule stays when its file is moved or of another type, and goes with the file", async () => {
    const ada = await addUser()
    const it = await openVal(suite, ada)
    const { id } = await it.add("job.ts")
    expectStatus(await it.put({ every: "2h" }, "job.ts"), 200)
    await it.change("job.ts", { name: "work.ts", parent_path: "jobs" })
    const moved = expectStatus(await it.get("jobs/work.ts"), 200).json
    expect(moved).toMatchObject({ file: { id, path: "jobs/work.ts" }, every: "2h" })
    await it.change("jobs/work.ts", { type: "script" })
    expect(expectStatus(await it.get("jobs/work.ts"), 200).json).toMatchObject({
      isPaused: true,
      pausedReason: "The file is of type script; only a file of type interval has a schedule",
    })
    await it.change("jobs/work.ts", { type: "interval" })
    const { nextAt } = moved
    expect(expectStatus(await it.get("jobs/work.ts"), 200).json).toMatchObject({
      isPaused: false,
      every: "2h",
      nextAt,
    })

    await it.remove("jobs")
    expect(await it.listPaths()).toEqual([])
    await it.add("jobs/work.ts")
    expect(expectStatus(await it.get("jobs/work.ts"), 200).json.every).toBe("1h")
    // Many changes in one version: the last says what the file is.
    const files = `/v1/vals/${it.id}/files`
    const changes = [
      { path: "a.ts", type: "interval", content: echo },
      { path: "a.ts", newPath: "b.ts" },
      { path: "c.ts", type: "interval", content: echo },
      { path: "c.ts", delete: true },
    ]
    expectStatus(await call("POST", files, { as: ada, body: { changes } }), 200)
    expect(await it.listPaths()).toEqual(["main b.ts false", "main jobs/work.ts false"])
  })

  test("a schedule goes with the version that added its file", async () => {
    const ada = await addUser()
    const it = await openVal(suite, ada)
    await it.add("main.tsx", "script")
    await it.add("job.ts")
    const { version } = expectStatus(await call("GET", `/v1/vals/${it.id}`, { as: ada }), 200).json
    expect(await it.listPaths()).toEqual(["main job.ts false"])
    const gone = await call("DELETE", `/v1/vals/${it.id}/versions/${version}`, { as: ada })
    expectStatus(gone, 204)
    expect(await it.listPaths()).toEqual([])
  })

  test("a save of a schedule's file does not bring back a schedule that its owner deleted", async () => {
    const ada = await addUser()
    const it = await openVal(suite, ada)
    await it.add("job.ts")
    expectStatus(await it.delete("job.ts"), 204)
    await it.change("job.ts", { content: `${echo} // changed` })
    expect((await it.get("job.ts")).status).toBe(404)
    expectStatus(await it.put({ every: "3h" }, "job.ts"), 200)
  })

  test("a fork has schedules of its own, which are paused", async () => {
    const [ada, bob] = [await addUser(), await addUser()]
    const origin = await val(ada, { code: echo, type: "interval", privacy: "public" })
    const body = { type: "interval", content: echo }
    const path = `/v2/vals/${origin.id}/files?path=jobs%2Fmore.ts`
    expectStatus(await call("POST", path, { as: ada, body }), 201)
    expectStatus(
      await call("PUT", `/v1/vals/${origin.id}/schedule`, { as: ada, body: { every: "5h" } }),
      200,
    )
    const fork = expectStatus(await call("POST", `/v1/vals/${origin.id}/fork`, { as: bob }), 201)
    const list = expectStatus(await call("GET", "/v1/me/schedules", { as: bob }), 200).json.data
    expect(list.map((one: { val: object; file: object }) => [one.val, one.file])).toHaveLength(2)
    for (const one of list)
      expect(one).toMatchObject({ val: { id: fork.json.id }, every: "1h", isPaused: true })
  })

  test("PUT names what is wrong with the file", async () => {
    const ada = await addUser()
    const it = await openVal(suite, ada)
    await it.add("main.tsx", "http")
    await it.add("notes.md", "file", "text")
    for (const [path, branch, status, code] of [
      ["missing.ts", undefined, 404, "file_not_found"],
      ["../main.tsx", undefined, 404, "file_not_found"],
      ["x".repeat(10_000), undefined, 400, "invalid_request"],
      [undefined, "none", 404, "branch_not_found"],
      ["notes.md", undefined, 409, "not_interval"],
      [undefined, undefined, 409, "not_interval"],
      ["main.tsx\u0000", undefined, 400, "invalid_request"],
    ] as const) {
      const put = await it.put({ every: "1h" }, path, branch)
      expect(expectStatus(put, status).json.code).toBe(code)
    }
    expect(await it.listPaths()).toEqual([])
  })
})

describeSqliteApi(
  "schedules of files beyond the limit of a user",
  (suite) => {
    test("are paused and say why, and a save never fails", async () => {
      const ada = await suite.addUser()
      const it = await openVal(suite, ada)
      const paths = ["a.ts", "b.ts", "c.ts"]
      const changes = paths.map((path) => ({ path, type: "interval", content: echo }))
      const save = await suite.call("POST", `/v1/vals/${it.id}/files`, {
        as: ada,
        body: { changes },
      })
      expectStatus(save, 200)
      expect(await it.listPaths()).toEqual(["main a.ts false", "main b.ts false", "main c.ts true"])
      expect(expectStatus(await it.get("c.ts"), 200).json.pausedReason).toBe(
        "It was not started: you have 2 schedules that are not paused, which is the limit",
      )
      // Paused ones do not count, so a branch is made, and nothing of it can be started.
      await it.branch("dev")
      const full = expectStatus(await it.put({ isPaused: false }, "a.ts", "dev"), 409).json
      expect(full.code).toBe("too_many_schedules")
      expectStatus(await it.put({ every: "2h" }, "c.ts"), 200)
      expectStatus(await it.put({ isPaused: false }, "c.ts"), 409)
      expectStatus(await it.put({ isPaused: true }, "a.ts"), 200)
      const started = expectStatus(await it.put({ isPaused: false }, "c.ts"), 200).json
      expect(started).toMatchObject({ isPaused: false, pausedReason: null, every: "2h" })
      const results = await Promise.all([
        it.put({ isPaused: true }, "c.ts"),
        ...["a.ts", "b.ts"].map((path) => it.put({ isPaused: false }, path, "dev")),
        it.put({ isPaused: false }, "a.ts"),
      ])
      expect(results.every(({ status }) => status === 200 || status === 409)).toBe(true)
      const active = (await it.listPaths()).filter((line) => line.endsWith("false"))
      expect(active.length).toBeLessThanOrEqual(2)
    })
  },
  { HAMLET_SCHEDULES_PER_USER_MAX: "2" },
)
