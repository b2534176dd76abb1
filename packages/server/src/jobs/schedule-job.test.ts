import { afterEach, describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import type { ExpectedStart, Runner } from "@hamlet/sandbox"
import type { FiredBatch, ScheduleWork } from "../domain/schedules/schedules.ts"
import { ScheduleJob, type ScheduleJobLimits } from "./schedule-job.ts"

const longMs = 3_600_000
const now = Date.parse("2026-11-16T08:30:00Z")
const idle: ScheduleWork = { now, nextInMs: undefined, hasNotices: false }
const due: ScheduleWork = { ...idle, nextInMs: 0 }
const nothing: FiredBatch = { delaysMs: [], dropped: 0, errors: [] }

/** A store that has what the test gives it, and notes what is asked of it. */
class FakeSchedules {
  readonly calls: string[] = []
  works: (ScheduleWork | Error)[] = []
  batches: (FiredBatch | Error)[] = []
  /** What a look at the next due times ends with. */
  corrections: (string | undefined)[] = []
  soon: readonly ExpectedStart[] = []
  releaseError: Error | undefined
  tellError: Error | undefined

  async findWork(): Promise<ScheduleWork> {
    this.calls.push("find")
    const work = this.works.shift() ?? idle
    if (work instanceof Error) throw work
    return work
  }

  async findSoon(...limits: number[]): Promise<readonly ExpectedStart[]> {
    this.calls.push(`soon ${limits}`)
    return this.soon
  }

  async fireDue(countMax: number): Promise<FiredBatch> {
    this.calls.push(`fire ${countMax}`)
    const batch = this.batches.shift() ?? nothing
    if (batch instanceof Error) throw batch
    return batch
  }

  async releaseWaiting(): Promise<void> {
    this.calls.push("release")
    if (this.releaseError) throw this.releaseError
  }

  async correctTimes(after: string | undefined): Promise<string | undefined> {
    this.calls.push(`correct after ${after}`)
    return this.corrections.shift()
  }

  async tellOwners(): Promise<number> {
    this.calls.push("tell")
    if (this.tellError) throw this.tellError
    return 1
  }
}

describe("ScheduleJob", () => {
  const jobs: ScheduleJob[] = []
  afterEach(() => Promise.all(jobs.splice(0).map((job) => job.stop())))

  function start(
    limits: Partial<ScheduleJobLimits> = {},
    schedules = new FakeSchedules(),
    runner: Pick<Runner, "expect"> = {},
  ) {
    const errors: unknown[] = []
    const woken: boolean[] = []
    const job = new ScheduleJob(
      schedules,
      { wake: () => woken.push(true) },
      runner,
      (error) => void errors.push(error),
      { batchMax: 10, pollMs: longMs, releaseMs: longMs, ...limits },
    )
    jobs.push(job)
    return { job, schedules, errors, wakes: () => woken.length }
  }

  test("starts everything that is due in batches, then sleeps", async () => {
    const { job, schedules, wakes } = start()
    schedules.works = [due, due, idle]
    schedules.batches = [
      { ...nothing, delaysMs: [5, 10], dropped: 1 },
      { ...nothing, dropped: 2 },
    ]
    job.start()
    await waitUntil(() => schedules.calls.length === 7)
    expect(schedules.calls).toEqual([
      "release",
      "find",
      "fire 10",
      "find",
      "fire 10",
      "find",
      "correct after undefined",
    ])
    expect(wakes()).toBe(1)
    expect(job.stats()).toMatchObject({ dropped: 3, delays: { count: 2 } })
  })

  test("begins no transaction when nothing is due, and tells owners when there is something to tell", async () => {
    const { job, schedules } = start()
    schedules.works = [{ now, nextInMs: longMs, hasNotices: true }]
    job.start()
    await waitUntil(() => schedules.calls.length === 4)
    expect(schedules.calls).toEqual(["release", "find", "tell", "correct after undefined"])
  })

  test("looks at the next due time, and again soon when another node has locked what is due", async () => {
    const { job, schedules } = start({ lockedMs: 1 })
    schedules.works = [{ ...idle, nextInMs: 1 }, due, due]
    job.start()
    await waitUntil(() => schedules.calls.length === 8)
    expect(schedules.calls).toEqual([
      "release",
      "find",
      "correct after undefined",
      "find",
      "fire 10",
      "find",
      "fire 10",
      "find",
    ])
  })

  test("tells the runner what is due soon, not each time it looks", async () => {
    const schedules = new FakeSchedules()
    schedules.soon = [{ accountId: "ada", inMs: 30_000 }]
    const expected: (readonly ExpectedStart[])[] = []
    const runner = { expect: (starts: readonly ExpectedStart[]) => void expected.push(starts) }
    const limits = { expectMs: longMs, soonMs: 40_000, idleMs: 5_000, soonMax: 7 }
    const { job } = start({ pollMs: 1, ...limits }, schedules, runner)
    job.start()
    await waitUntil(() => schedules.calls.filter((call) => call === "find").length === 3)
    expect(schedules.calls.filter((call) => call.startsWith("soon"))).toEqual(["soon 40000,5000,7"])
    expect(expected).toEqual([schedules.soon])
  })

  test("goes on after an error of the database", async () => {
    const { job, schedules, errors } = start({ pollMs: 1 })
    schedules.works = [new Error("the database is away")]
    job.start()
    await waitUntil(() => schedules.calls.length > 4)
    expect(String(errors)).toBe("Error: the database is away")
  })

  test("fires what is due although another step fails", async () => {
    const { job, schedules, errors } = start()
    schedules.releaseError = new Error("release")
    schedules.tellError = new Error("tell")
    schedules.works = [{ ...due, hasNotices: true }]
    schedules.batches = [{ ...nothing, delaysMs: [1], errors: [new Error("one row")] }]
    job.start()
    await waitUntil(() => schedules.calls.includes("correct after undefined"))
    expect(schedules.calls).toEqual([
      "release",
      "find",
      "tell",
      "fire 10",
      "find",
      "correct after undefined",
    ])
    expect(errors.map(String)).toEqual(["Error: release", "Error: tell", "Error: one row"])
  })

  test("corrects due times in parts when it starts, and again after the clock was set back", async () => {
    const { job, schedules } = start({ pollMs: 1, clockStepMs: 1_000_000 })
    schedules.corrections = ["a", "b"]
    const corrections = () => schedules.calls.filter((call) => call.startsWith("correct"))
    job.start()
    await waitUntil(() => corrections().length === 3)
    const { length } = schedules.calls
    await waitUntil(() => schedules.calls.length > length + 3)
    expect(corrections()).toEqual(["correct after undefined", "correct after a", "correct after b"])
    schedules.works = [{ ...idle, now: now + 86_400_000 }, idle]
    await waitUntil(() => corrections().length === 4)
    expect(corrections().at(-1)).toBe("correct after undefined")
  })
})
