import { describe, expect, test } from "bun:test"
import {
  changeSchedule,
  findPause,
  listDueTimes,
  type Schedule,
  toFirstSettings,
} from "./schedules.ts"

const before = Date.parse("2026-11-16T08:00:00Z")
const now = before + 600_000
const current: Schedule = {
  val: {
    id: "0190a6b1-7e3c-7c4d-8f5e-0123456789ab",
    name: "report",
    version: 1,
    privacy: "private",
    ownerId: "0190a6b1-7e3c-7c4d-8f5e-0123456789ac",
    ownerName: "ada",
  },
  file: { id: "0190a6b1-7e3c-7c4d-8f5e-0123456789ab", path: "main.tsx" },
  branch: { id: "0190a6b1-7e3c-7c4d-8f5e-0123456789ab", name: "main" },
  type: "interval",
  timing: { cron: null, every: "1h", timeZone: "UTC" },
  overlap: "allow",
  catchUp: "one",
  isPaused: false,
  pausedReason: null,
  anchorAt: before,
  nextAt: before + 3_600_000,
  lastRunAt: null,
  lastRunId: null,
  lastStatus: null,
  failureCount: 7,
  createdAt: before,
  updatedAt: before,
}
const paused: Schedule = {
  ...current,
  isPaused: true,
  pausedReason: "The last 100 runs failed",
  nextAt: null,
}

describe("changeSchedule", () => {
  test("starts a new schedule now, with the defaults", () => {
    expect(changeSchedule(undefined, { every: "1m" }, 1, now)).toEqual({
      timing: { cron: null, every: "1m", timeZone: "UTC" },
      isPaused: false,
      overlap: "skip",
      catchUp: "none",
      pausedReason: null,
      failureCount: 0,
      anchorAt: now,
      nextAt: now + 60_000,
    })
  })

  test("keeps the due times and failures of a schedule whose timing stays the same", () => {
    const { anchorAt, nextAt, failureCount } = current
    const kept = { anchorAt, nextAt, failureCount }
    expect(changeSchedule(current, { overlap: "skip" }, 1, now)).toMatchObject(kept)
    expect(changeSchedule(current, { every: "1 h" }, 1, now)).toMatchObject(kept)
    expect(changeSchedule(current, { timeZone: "utc" }, 1, now)).toMatchObject(kept)
  })

  test("starts anew when the timing changes, or when a pause ends", () => {
    expect(changeSchedule(current, { every: "2h" }, 1, now)).toMatchObject({
      anchorAt: now,
      nextAt: now + 7_200_000,
      failureCount: 0,
      overlap: "allow",
    })
    expect(changeSchedule(paused, { isPaused: false }, 1, now)).toMatchObject({
      isPaused: false,
      pausedReason: null,
      anchorAt: now,
      nextAt: now + 3_600_000,
      failureCount: 0,
    })
  })

  test("keeps a pause and its reason when something else changes", () => {
    expect(changeSchedule(paused, { every: "2h" }, 1, now)).toMatchObject({
      isPaused: true,
      pausedReason: "The last 100 runs failed",
      nextAt: null,
    })
    expect(changeSchedule(current, { isPaused: true }, 1, now)).toMatchObject({
      isPaused: true,
      pausedReason: null,
      nextAt: null,
    })
  })
})

describe("a schedule whose time zone is not known any more", () => {
  const timing = { cron: "0 9 * * *", every: null, timeZone: "Mars/Olympus" }

  test("still shows its next due time, and is not resumed", () => {
    expect(listDueTimes({ ...current, timing }, 10)).toEqual([current.nextAt ?? 0])
    expect(() => changeSchedule({ ...paused, timing }, { isPaused: false }, 1, now)).toThrow(
      'Cannot set the schedule: "cron" is not a cron expression',
    )
  })
})

describe("toFirstSettings", () => {
  const limits = { perUserMax: 2, secondsMin: 1 }

  test("is hourly, or as often as the operator allows", () => {
    expect(toFirstSettings(limits, 1, now)).toMatchObject({
      timing: { every: "1h" },
      isPaused: false,
      nextAt: now + 3_600_000,
    })
    const rare = { ...limits, secondsMin: 7_200 }
    expect(toFirstSettings(rare, 1, now).nextAt).toBe(now + 7_200_000)
    expect(toFirstSettings(rare, 1, now, true).nextAt).toBe(now)
    expect(toFirstSettings(limits, undefined, now, true).nextAt).toBeNull()
  })

  test("is paused without a count, and with a reason when there are enough others", () => {
    expect(toFirstSettings(limits, undefined, now)).toMatchObject({
      isPaused: true,
      pausedReason: null,
      nextAt: null,
    })
    expect(toFirstSettings(limits, 2, now)).toMatchObject({
      isPaused: true,
      pausedReason:
        "It was not started: you have 2 schedules that are not paused, which is the limit",
      nextAt: null,
    })
  })
})

test("findPause names the type of a val, or of a file of it", () => {
  expect(findPause(current)).toBeUndefined()
  expect(findPause({ ...current, type: "file" })).toEqual({
    reason: "The val is of type script; only a val of type interval has a schedule",
  })
  const file = { id: "0190a6b1-7e3c-7c4d-8f5e-0123456789ff", path: "jobs/clean.ts" }
  expect(findPause({ ...current, file, type: "http" })).toEqual({
    reason: "The file is of type http; only a file of type interval has a schedule",
  })
})
