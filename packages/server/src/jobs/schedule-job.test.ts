import { afterEach, describe, expect, test } from "bun:test"
import { waitUntil } from "../../test/support/wait-until.ts"
import type { FiredBatch, ScheduleWork } from "../domain/schedules/schedules.ts"
import { ScheduleJob, type ScheduleJobLimits } from "./schedule-job.ts"

const longMs = 3_600_000
const idle: ScheduleWork = { nextInMs: undefined, hasNotices: false }
const due: ScheduleWork = { nextInMs: 0, hasNotices: false }

/** A store that has what the test gives it, and notes what is asked of it. */
class FakeSchedules {
  readonly calls: string[] = []
  works: (ScheduleWork | Error)[] = []
  batches: FiredBatch[] = []

  async findWork(): Promise<ScheduleWork> {
    this.calls.push("find")
    const work = this.works.shift() ?? idle
    if (work instanceof Error) throw work
    return work
  }

  async fireDue(countMax: number): Promise<FiredBatch> {
    this.calls.push(`fire ${countMax}`)
    return this.batches.shift() ?? { delaysMs: [], dropped: 0 }
  }

  async releaseWaiting(): Promise<void> {
    this.calls.push("release")
  }

  async tellOwners(): Promise<number> {
    this.calls.push("tell")
    return 1
  }
}

describe("ScheduleJob", () => {
  const jobs: ScheduleJob[] = []
  afterEach(() => Promise.all(jobs.splice(0).map((job) => job.stop())))

  function start(limits: Partial<ScheduleJobLimits> = {}, schedules = new FakeSchedules()) {
    const errors: unknown[] = []
    const woken: boolean[] = []
    const job = new ScheduleJob({
      schedules,
      queue: { wake: () => woken.push(true) },
      limits: { batchMax: 10, pollMs: longMs, releaseMs: longMs, ...limits },
      onError: (error) => void errors.push(error),
    })
    jobs.push(job)
    return { job, schedules, errors, wakes: () => woken.length }
  }

  test("starts everything that is due in batches, then sleeps", async () => {
    const { job, schedules, wakes } = start()
    schedules.works = [due, due, idle]
    schedules.batches = [
      { delaysMs: [5, 10], dropped: 1 },
      { delaysMs: [], dropped: 2 },
    ]
    job.start()
    await waitUntil(() => schedules.calls.length === 6)
    expect(schedules.calls).toEqual(["release", "find", "fire 10", "find", "fire 10", "find"])
    expect(wakes()).toBe(1)
    expect(job.stats()).toMatchObject({ dropped: 3, delays: { count: 2 } })
  })

  test("begins no transaction when nothing is due, and tells owners when there is something to tell", async () => {
    const { job, schedules } = start()
    schedules.works = [{ nextInMs: longMs, hasNotices: true }]
    job.start()
    await waitUntil(() => schedules.calls.length === 3)
    expect(schedules.calls).toEqual(["release", "find", "tell"])
  })

  test("looks again when it is woken, also while it is looking", async () => {
    const { job, schedules } = start()
    job.start()
    job.wake()
    job.wake()
    await waitUntil(() => schedules.calls.length === 3)
    expect(schedules.calls).toEqual(["release", "find", "find"])
    job.wake()
    await waitUntil(() => schedules.calls.length === 4)
  })

  test("looks at the next due time, and again soon when another node has locked what is due", async () => {
    const { job, schedules } = start({ lockedMs: 1 })
    schedules.works = [{ nextInMs: 1, hasNotices: false }, due, due]
    job.start()
    await waitUntil(() => schedules.calls.length === 7)
    expect(schedules.calls).toEqual([
      "release",
      ...["find", "find", "fire 10"],
      ...["find", "fire 10", "find"],
    ])
  })

  test("goes on after an error of the database", async () => {
    const { job, schedules, errors } = start({ pollMs: 1 })
    schedules.works = [new Error("the database is away")]
    job.start()
    await waitUntil(() => schedules.calls.length > 3)
    expect(String(errors)).toBe("Error: the database is away")
  })

  test("does nothing after it was stopped, even if it is woken", async () => {
    const { job, schedules } = start()
    job.start()
    await job.stop()
    const { length } = schedules.calls
    job.wake()
    expect(schedules.calls.length).toBe(length)
  })
})
