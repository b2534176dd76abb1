import { describe, expect, test } from "bun:test"
import { type ActiveRun, RecentlyEndedRuns } from "./active-runs.ts"

function activeRun(id: string, { startedMs = 10, depth = 0 } = {}): ActiveRun {
  const run = { id, depth, log() {}, skipLogs() {}, fail() {}, sent() {} }
  return { run, startedMs, noteLog() {}, noteRefusal() {}, endWith() {}, sweep() {} }
}

describe("RecentlyEndedRuns", () => {
  test("keeps the latest runs, up to its limit", () => {
    const late = new RecentlyEndedRuns(10)
    for (let count = 1; count <= 100; count++) {
      late.add(activeRun(`run ${count}`))
      const known = Array.from(
        { length: count },
        (_, index) => late.find(`run ${index + 1}`, 0) !== undefined,
      )
      expect(known.slice(-5).every(Boolean)).toBe(true)
      expect(known.filter(Boolean).length).toBeLessThanOrEqual(10)
    }
  })

  test("ignores runs that started too long ago, also for the depth", () => {
    const late = new RecentlyEndedRuns(10)
    late.add(activeRun("old", { startedMs: 1, depth: 5 }))
    late.add(activeRun("new", { startedMs: 9, depth: 2 }))
    expect([late.find("old", 1)?.run.id, late.find("old", 2), late.find("new", 2)?.run.id]).toEqual(
      ["old", undefined, "new"],
    )
    expect([late.findDepth(1), late.findDepth(2), late.findDepth(10)]).toEqual([5, 2, 0])
  })

  test("clear removes all runs", () => {
    const late = new RecentlyEndedRuns(2)
    for (const id of ["one", "two"]) late.add(activeRun(id, { depth: 1 }))
    late.clear()
    expect([late.find("one", 0), late.find("two", 0), late.findDepth(0)]).toEqual([
      undefined,
      undefined,
      0,
    ])
  })
})
