import { expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import type { EndedRun } from "../../domain/queue/queue-store.ts"
import type { RunStatus } from "../../domain/runs/runs.ts"
import { failureLimits } from "../../domain/schedules/failures.ts"
import {
  changeSchedule,
  type ScheduleInput,
  type ScheduleStore,
} from "../../domain/schedules/schedules.ts"
import { noticeSenderName } from "../mail/outbound/add-notice.ts"
import { noteScheduledRuns } from "./note-ended-runs.ts"
import { createScheduleStore } from "./schedules.ts"

const user = Bun.randomUUIDv7()
const minute = 60_000
const toValPage = (owner: string, name: string) => `https://hamlet.example/u/${owner}/${name}`

interface RunRow {
  readonly id: string
  readonly valId: string
  readonly fileId: string | null
  readonly branchId: string | null
  readonly source: string
  readonly status: string
  readonly accountId: string
  readonly args: string
  readonly input: string
}

describeEachDatabase("fireDue", (open) => {
  async function setUp(valCount = 1) {
    const { db } = await open()
    const vals = Array.from({ length: valCount }, () => Bun.randomUUIDv7())
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
      for (const [index, val] of vals.entries()) {
        yield* insertValRows({
          id: val,
          ownerId: user,
          name: `val${index}`,
          privacy: "private",
          type: "interval",
        })
      }
    })
    const schedules = createScheduleStore(db, () => Bun.randomUUIDv7(), toValPage)
    const put = (valId: string, input: ScheduleInput) =>
      schedules.put(
        valId,
        {},
        ({ current, now }) => changeSchedule(current, input, 1, now),
        valCount,
      )
    return { db, vals, val: vals[0] ?? "", schedules, put }
  }

  /** Makes the schedule due: its first due time was `agoMs` ago. */
  async function makeDue(db: Database, valId: string, agoMs = 0): Promise<number> {
    const [row] = await db.read<{ now: number }>(sql`select ${db.dialect.now} as now`)
    const at = Number(row?.now) - agoMs
    await db.write(function* () {
      yield sql`update schedules set next_at = ${at}, anchor_at = ${at} where val_id = ${valId}`
    })
    return at
  }

  /** One transaction may leave some for the next on a busy machine. */
  async function fireAll(schedules: ScheduleStore) {
    const counts = { started: 0, dropped: 0, failed: 0 }
    while ((await schedules.findWork()).nextInMs === 0) {
      const { delaysMs, dropped, errors } = await schedules.fireDue(10)
      counts.started += delaysMs.length
      counts.dropped += dropped
      counts.failed += errors.length
    }
    return counts
  }

  const listRuns = (db: Database) =>
    db.read<RunRow>(
      sql`select id, val_id, file_id, branch_id, source, status, account_id, args, input from runs order by started_at, id`,
    )

  async function endRun(db: Database, run: RunRow | undefined, status: RunStatus): Promise<void> {
    const ended: EndedRun = {
      id: run?.id ?? "",
      valId: run?.valId ?? "",
      fileId: run?.fileId ?? run?.valId ?? "",
      branchId: run?.branchId ?? run?.valId ?? "",
      version: 1,
      accountId: user,
      ownerId: user,
      source: "interval",
      status,
      startedAt: 1,
      endedAt: 2,
      error: null,
      depth: 0,
    }
    await db.write(function* () {
      yield sql`update runs set status = ${status}, ended_at = 2, due_at = null where id = ${ended.id}`
      yield* noteScheduledRuns(db.dialect, [ended])
    })
  }

  test("findSoon lists the schedules that are due soon and need a process", async () => {
    const { db, vals, schedules, put } = await setUp(5)
    for (const val of vals) await put(val, { every: "1h" })
    const [soon = "", late = "", due = "", warm = "", waiting = ""] = vals
    const at = await makeDue(db, soon, -30_000)
    await makeDue(db, late, -90_000)
    await makeDue(db, due, 1_000)
    for (const val of [warm, waiting]) await makeDue(db, val, -20_000)
    await db.write(function* () {
      yield sql`update schedules set last_run_at = ${at - 60_000} where val_id = ${warm}`
      yield sql`update schedules set waits_for_id = file_id where val_id = ${waiting}`
    })
    const found = await schedules.findSoon(60_000, 65_000, 10)
    expect(found).toEqual([{ accountId: user, inMs: expect.any(Number) }])
    expect(found[0]?.inMs).toBeGreaterThan(20_000)
    expect(found[0]?.inMs).toBeLessThanOrEqual(30_000)
    expect(await schedules.findSoon(60_000, 40_000, 10)).toHaveLength(2)
    expect(await schedules.findSoon(60_000, 40_000, 1)).toHaveLength(1)
  })

  test("queues a run on the owner's account with the due time and the previous one", async () => {
    const { db, val, schedules, put } = await setUp()
    await put(val, { every: "1h" })
    expect(await schedules.fireDue(10)).toMatchObject({ delaysMs: [], dropped: 0 })
    const first = await makeDue(db, val)
    const fired = await schedules.fireDue(10)
    expect([fired.delaysMs.length, fired.dropped]).toEqual([1, 0])
    expect((await schedules.findWork()).nextInMs).toBeGreaterThan(59 * minute)
    const [run] = await listRuns(db)
    expect(run).toMatchObject({
      valId: val,
      source: "interval",
      status: "queued",
      accountId: user,
    })
    expect(JSON.parse(run?.input ?? "")).toEqual({
      kind: "interval",
      lastRunAt: null,
      scheduledAt: first,
    })
    expect(JSON.parse(run?.args ?? "")).toEqual([{ scheduledAt: new Date(first).toISOString() }])
    const after = await schedules.find(val, {})
    expect(after).toMatchObject({
      lastRunId: run?.id ?? "",
      lastStatus: "queued",
      nextAt: first + 60 * minute,
    })

    await endRun(db, run, "succeeded")
    const second = await makeDue(db, val)
    await schedules.fireDue(10)
    const [, next] = await listRuns(db)
    expect(JSON.parse(next?.input ?? "")).toEqual({
      kind: "interval",
      lastRunAt: after?.lastRunAt ?? 0,
      scheduledAt: second,
    })
  })

  test("starts each due time once, however many nodes look at the same time", async () => {
    const { db, vals, schedules, put } = await setUp(30)
    for (const val of vals) await put(val, { every: "1h", overlap: "allow" })
    for (const val of vals) await makeDue(db, val)
    const fired = await Promise.all(Array.from({ length: 8 }, () => schedules.fireDue(7)))
    let left = 30 - fired.reduce((sum, { delaysMs }) => sum + delaysMs.length, 0)
    // What another node had locked is found when it looks again.
    while (left > 0) left -= (await schedules.fireDue(100)).delaysMs.length
    expect(left).toBe(0)
    const runs = await listRuns(db)
    expect(new Set(runs.map(({ valId }) => valId)).size).toBe(30)
    expect(runs.length).toBe(30)
    expect((await schedules.fireDue(100)).delaysMs).toEqual([])
  })

  test("starts every due time of a short delay, and none that was missed", async () => {
    const { db, val, schedules, put } = await setUp()
    await put(val, { every: "10s", overlap: "allow" })
    // The next one is due in nine seconds, which a slow machine may need for what follows.
    await makeDue(db, val, 31_000)
    let count = 0
    for (let round = 0; round < 6; round++) count += (await schedules.fireDue(10)).delaysMs.length
    expect(count).toBe(4)
    await makeDue(db, val, 10 * minute + 5_000)
    expect(await schedules.fireDue(10)).toMatchObject({ delaysMs: [], dropped: 1 })
  })

  test("makes up for missed due times with one run", async () => {
    const { db, val, schedules, put } = await setUp()
    await put(val, { every: "1m", overlap: "allow", catchUp: "one" })
    const dueAt = await makeDue(db, val, 10 * minute + 5_000)
    expect((await schedules.fireDue(10)).delaysMs.length).toBe(1)
    expect((await schedules.fireDue(10)).delaysMs.length).toBe(0)
    const [run] = await listRuns(db)
    expect(JSON.parse(run?.input ?? "").scheduledAt).toBe(dueAt + 10 * minute)
  })

  test("starts no run beside a thousand others that wait, but the first of a schedule", async () => {
    const { db, vals, schedules, put } = await setUp(2)
    const [many = "", single = ""] = vals
    await put(many, { every: "1h", overlap: "allow" })
    await put(single, { every: "1h" })
    await db.write(function* () {
      for (let index = 0; index < 1_000; index++)
        yield sql`insert into runs (id, val_id, version, account_id, owner_id, source, status, started_at, bytes, due_at)
          values (${Bun.randomUUIDv7()}, ${many}, 1, ${user}, ${user}, 'interval', 'queued', 1, 0, 1)`
    })
    for (const val of vals) await makeDue(db, val)
    expect(await fireAll(schedules)).toEqual({ started: 1, dropped: 1, failed: 0 })
    await db.write(function* () {
      yield sql`delete from runs where id = (select id from runs where val_id = ${many} limit 1)`
      yield sql`delete from runs where val_id = ${single}`
    })
    await makeDue(db, many)
    expect((await schedules.fireDue(10)).delaysMs.length).toBe(1)
  })

  test("drops a due time while the previous run goes on, with overlap skip", async () => {
    const { db, val, schedules, put } = await setUp()
    await put(val, { every: "1h" })
    await makeDue(db, val)
    await schedules.fireDue(10)
    await makeDue(db, val)
    expect(await schedules.fireDue(10)).toMatchObject({ delaysMs: [], dropped: 1 })
    const [run] = await listRuns(db)
    await endRun(db, run, "succeeded")
    await makeDue(db, val)
    expect((await schedules.fireDue(10)).delaysMs.length).toBe(1)
  })

  test("pauses a schedule whose times cannot be computed, and fires the others", async () => {
    const { db, vals, val, schedules, put } = await setUp(3)
    // A yearly schedule is not due again while the test goes on.
    for (const id of vals) await put(id, { cron: "@yearly" })
    await db.write(function* () {
      yield sql`update schedules set time_zone = 'Mars/Olympus' where val_id = ${val}`
    })
    for (const id of vals) await makeDue(db, id)
    expect(await fireAll(schedules)).toEqual({ started: 2, dropped: 1, failed: 1 })
    expect((await listRuns(db)).map((run) => run.valId).sort()).toEqual(vals.slice(1).sort())
    expect(await schedules.find(val, {})).toMatchObject({
      isPaused: true,
      nextAt: null,
      pausedReason: expect.stringContaining("Mars/Olympus"),
    })
  })

  test("fires schedules with slow expressions in several transactions", async () => {
    const { db, vals, schedules, put } = await setUp(100)
    for (const id of vals) await put(id, { every: "1h" })
    await db.write(function* () {
      // The search for the next time looks at 40 years.
      yield sql`update schedules set cron = '0 0 0 30 2 +7#5', every = null`
    })
    for (const id of vals) await makeDue(db, id)
    const counts: number[] = []
    while ((await schedules.findWork()).nextInMs === 0)
      counts.push((await schedules.fireDue(1_000)).delaysMs.length)
    expect(counts.length).toBeGreaterThan(1)
    expect(await listRuns(db)).toHaveLength(100)
  })

  test("correctTimes recomputes a next time that is later than the timing allows", async () => {
    const { db, vals, schedules, put } = await setUp(3)
    const [every = "", cron = "", right = ""] = vals
    await put(every, { every: "10m" })
    await put(cron, { cron: "*/10 * * * *" })
    await put(right, { cron: "0 0 29 2 *" })
    const before = await schedules.find(right, {})
    const [clock] = await db.read<{ now: number }>(sql`select ${db.dialect.now} as now`)
    const now = Number(clock?.now)
    const day = 1_440 * minute
    await db.write(function* () {
      yield sql`update schedules set anchor_at = ${now + day}, next_at = ${now + day + 10 * minute} where val_id = ${every}`
      yield sql`update schedules set last_run_at = ${now + day}, next_at = ${now + day} where val_id = ${cron}`
    })
    let after: string | undefined
    do after = await schedules.correctTimes(after, 1)
    while (after !== undefined)
    const nextOf = async (id: string) => (await schedules.find(id, {}))?.nextAt ?? 0
    expect(await nextOf(every)).toBeLessThanOrEqual(now + 11 * minute)
    expect(await nextOf(every)).toBeGreaterThan(now + 9 * minute)
    expect(await nextOf(cron)).toBeLessThanOrEqual(now + 11 * minute)
    expect(await nextOf(right)).toBe(before?.nextAt ?? 0)
  })

  test("lets due times wait for the previous run, with overlap queue", async () => {
    const { db, val, schedules, put } = await setUp()
    await put(val, { every: "20s", overlap: "queue" })
    await makeDue(db, val)
    await schedules.fireDue(10)
    const [first] = await listRuns(db)
    const dueAt = await makeDue(db, val, 41_000)
    expect(await schedules.fireDue(10)).toEqual({ delaysMs: [], dropped: 0, errors: [] })
    expect((await schedules.findWork()).nextInMs).toBeUndefined()
    await endRun(db, first, "failed")
    // One after the other, each when the one before has ended.
    for (const count of [2, 3, 4]) {
      expect((await schedules.fireDue(10)).delaysMs.length).toBe(1)
      expect((await schedules.fireDue(10)).delaysMs.length).toBe(0)
      const runs = await listRuns(db)
      expect(runs.length).toBe(count)
      const last = runs.find(({ status }) => status === "queued")
      expect(JSON.parse(last?.input ?? "").scheduledAt).toBe(dueAt + (count - 2) * 20_000)
      await endRun(db, last, "succeeded")
    }
    expect(await schedules.fireDue(10)).toMatchObject({ delaysMs: [], dropped: 0 })
  })

  test("lets a schedule go on whose run was deleted while it waited", async () => {
    const { db, val, schedules, put } = await setUp()
    await put(val, { every: "1h", overlap: "queue" })
    await makeDue(db, val)
    await schedules.fireDue(10)
    await makeDue(db, val)
    await schedules.fireDue(10)
    await schedules.releaseWaiting()
    expect((await schedules.findWork()).nextInMs).toBeUndefined()
    await db.write(function* () {
      yield sql`delete from runs`
    })
    await schedules.releaseWaiting()
    expect((await schedules.fireDue(10)).delaysMs.length).toBe(1)
  })

  test("starts nothing for a paused schedule, a val of another type, or a suspended owner", async () => {
    const { db, val, schedules, put } = await setUp()
    await put(val, { every: "1h", isPaused: true })
    expect((await schedules.findWork()).nextInMs).toBeUndefined()
    await put(val, { isPaused: false })
    await db.write(function* () {
      yield sql`update states set type = 'script' where file_id = ${val}`
    })
    await makeDue(db, val)
    expect(await schedules.fireDue(10)).toMatchObject({ delaysMs: [], dropped: 1 })
    await db.write(function* () {
      yield sql`update states set type = 'interval' where file_id = ${val}`
      yield sql`update users set suspended_at = 1 where id = ${user}`
    })
    await makeDue(db, val)
    expect(await schedules.fireDue(10)).toMatchObject({ delaysMs: [], dropped: 1 })
    await db.write(function* () {
      yield sql`update users set suspended_at = null where id = ${user}`
    })
    await makeDue(db, val)
    expect((await schedules.fireDue(10)).delaysMs.length).toBe(1)
  })

  test("counts failures in a row, and pauses the schedule when they do not end", async () => {
    const { db, val, schedules, put } = await setUp()
    await put(val, { every: "1h" })
    const failOnce = async (status: RunStatus) => {
      await makeDue(db, val)
      expect((await schedules.fireDue(10)).delaysMs.length).toBe(1)
      const runs = await listRuns(db)
      await endRun(
        db,
        runs.find((run) => run.status === "queued"),
        status,
      )
      return (await schedules.find(val, {}))?.failureCount
    }
    expect(await failOnce("failed")).toBe(1)
    expect(await failOnce("timed_out")).toBe(2)
    expect(await failOnce("cancelled")).toBe(2)
    expect(await failOnce("crashed")).toBe(3)
    expect(await failOnce("succeeded")).toBe(0)
    await db.write(function* () {
      yield sql`update schedules set failure_count = ${failureLimits.pausedAfter - 2} where val_id = ${val}`
    })
    expect(await failOnce("failed")).toBe(failureLimits.pausedAfter - 1)
    expect((await schedules.find(val, {}))?.isPaused).toBe(false)
    expect(await failOnce("failed")).toBe(failureLimits.pausedAfter)
    expect(await schedules.find(val, {})).toMatchObject({
      isPaused: true,
      pausedReason: "The last 100 runs failed",
      nextAt: null,
    })
    await put(val, { isPaused: false })
    expect(await schedules.find(val, {})).toMatchObject({
      isPaused: false,
      pausedReason: null,
      failureCount: 0,
    })
  })

  test("tells the owner by mail when a schedule keeps failing, and when it is paused", async () => {
    const { db, val, schedules, put } = await setUp()
    await db.write(function* () {
      yield sql`insert into settings (name, value) values (${noticeSenderName}, 'no-reply@hamlet.example')`
      yield sql`update users set email = 'ada@example.com', email_verified_at = 1 where id = ${user}`
    })
    await put(val, { every: "1h" })
    const failAfter = async (failures: number) => {
      await db.write(function* () {
        yield sql`update schedules set failure_count = ${failures} where val_id = ${val}`
      })
      await makeDue(db, val)
      await schedules.fireDue(10)
      const runs = await listRuns(db)
      const run = runs.find(({ status }) => status === "queued")
      await endRun(db, run, "failed")
    }
    const listSubjects = async () =>
      (await db.read<{ subject: string }>(sql`select subject from emails order by id`)).map(
        ({ subject }) => subject,
      )
    await failAfter(failureLimits.failingAfter - 2)
    expect((await schedules.findWork()).hasNotices).toBe(false)
    await failAfter(failureLimits.failingAfter - 1)
    expect((await schedules.findWork()).hasNotices).toBe(true)
    // Once, however many nodes look.
    const told = await Promise.all([schedules.tellOwners(10), schedules.tellOwners(10)])
    expect(told.reduce((sum, count) => sum + count)).toBe(1)
    expect((await schedules.findWork()).hasNotices).toBe(false)
    await failAfter(failureLimits.failingAfter)
    expect(await schedules.tellOwners(10)).toBe(0)
    await failAfter(failureLimits.pausedAfter - 1)
    expect(await schedules.tellOwners(10)).toBe(1)
    expect(await listSubjects()).toEqual([
      "The schedule of ada/val0 keeps failing",
      "The schedule of ada/val0 is paused",
    ])
  })
})
