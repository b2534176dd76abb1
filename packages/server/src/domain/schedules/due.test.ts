import { describe, expect, test } from "bun:test"
import { type DueSchedule, decideDue, dueLimits, findCorrection } from "./due.ts"

const dueAt = Date.parse("2026-11-16T08:00:00Z")
const minute = 60_000
const due: DueSchedule = {
  timing: { cron: "* * * * *", every: null, timeZone: "UTC" },
  anchorAt: dueAt - minute,
  dueAt,
  overlap: "skip",
  catchUp: "none",
  canRun: true,
  hasOpenRun: false,
  releasedAt: null,
}

/** What happens, with times in minutes after the due time. */
function decide(more: Partial<DueSchedule>, afterMs: number): string {
  const { kind, dueAt: at, nextAt } = decideDue({ ...due, ...more }, dueAt + afterMs)
  return `${kind} ${(at - dueAt) / minute}, then ${nextAt === null ? "never" : (nextAt - dueAt) / minute}`
}

describe("decideDue", () => {
  test("runs a due time and moves on to the next one, not over it", () => {
    expect(decide({}, 0)).toBe("run 0, then 1")
    // Late, but not missed: the due times after it will run too.
    expect(decide({}, dueLimits.lateMsMax)).toBe("run 0, then 1")
  })

  test("drops missed due times with catchUp none, but not those of the last minute", () => {
    expect(decide({}, 10 * minute)).toBe("drop 0, then 10")
    expect(decide({}, 10 * minute + 1)).toBe("drop 0, then 10")
    expect(decide({}, dueLimits.lateMsMax + 1)).toBe("drop 0, then 1")
  })

  test("runs once for all missed due times with catchUp one", () => {
    expect(decide({ catchUp: "one" }, 10 * minute + 1)).toBe("run 10, then 11")
    const every: DueSchedule["timing"] = { cron: null, every: "1m", timeZone: "UTC" }
    expect(decide({ catchUp: "one", timing: every }, 600 * minute + 1)).toBe("run 600, then 601")
  })

  test("drops, queues or allows a due time while the previous run goes on", () => {
    const open = { hasOpenRun: true } as const
    expect(decide({ ...open, overlap: "skip" }, 0)).toBe("drop 0, then 1")
    expect(decide({ ...open, overlap: "queue" }, 0)).toBe("wait 0, then 0")
    expect(decide({ ...open, overlap: "allow" }, 0)).toBe("run 0, then 1")
  })

  test("runs every due time that has waited for a run, one after the other", () => {
    const queue = { overlap: "queue", releasedAt: dueAt + 5 * minute } as const
    expect(decide(queue, 5 * minute)).toBe("run 0, then 1")
    expect(decide({ ...queue, hasOpenRun: true }, 5 * minute)).toBe("wait 0, then 0")
    const late = { ...queue, hasOpenRun: true, releasedAt: dueAt + 61 * minute }
    expect(decide(late, 61 * minute)).toBe("drop 0, then 2")
  })

  test("waits once for all missed due times with catchUp one and overlap queue", () => {
    const more = { overlap: "queue", catchUp: "one", hasOpenRun: true } as const
    expect(decide(more, 10 * minute)).toBe("wait 10, then 10")
  })

  test("drops the due times of a val that cannot run, whatever else is set", () => {
    expect(decide({ canRun: false, catchUp: "one" }, 10 * minute)).toBe("drop 0, then 11")
    expect(decide({ canRun: false, overlap: "queue", hasOpenRun: true }, 0)).toBe("drop 0, then 1")
  })
})

describe("findCorrection", () => {
  const at = (text: string) => Date.parse(`2026-11-16T${text}Z`)
  const timing = { cron: "*/10 * * * *", every: null, timeZone: "UTC" }
  const now = at("08:34:59.990")
  const right = at("08:40:00")
  const find = (nextAt: number, lastRunAt: number | null, anchorAt = 0) =>
    findCorrection({ timing, anchorAt, nextAt, lastRunAt }, now)

  test("finds the right time of a schedule that was set or run while the clock was ahead", () => {
    const day = 86_400_000
    expect(find(right + day, null)).toEqual({ anchorAt: 0, nextAt: right })
    expect(find(right + day, now + day)).toEqual({ anchorAt: 0, nextAt: right })
    expect(find(right + day, now - day, now + day)).toEqual({ anchorAt: now, nextAt: right })
    const every = { cron: null, every: "15m", timeZone: "UTC" }
    const ahead = { timing: every, anchorAt: now + day, nextAt: now + day, lastRunAt: null }
    expect(findCorrection(ahead, now)).toEqual({ anchorAt: now, nextAt: now + 900_000 })
  })

  test("leaves a schedule alone that is right, or whose run was a moment early", () => {
    expect(find(right, at("08:30:00"))).toBeUndefined()
    const justBefore = at("08:39:59.990")
    const early = { timing, anchorAt: 0, nextAt: at("08:50:00"), lastRunAt: at("08:40:00.001") }
    expect(findCorrection(early, justBefore)).toBeUndefined()
  })
})
