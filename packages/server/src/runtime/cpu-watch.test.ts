import { describe, expect, test } from "bun:test"
import { CpuWatch } from "./cpu-watch.ts"

const stepMs = 250

/** A process that takes what a test says, and the watch that looks at it. */
function watch(cpuMsMax = 30_000) {
  const watched = new CpuWatch(cpuMsMax)
  const seen: string[] = []
  let nowMs = 0
  let cpuMs = 0
  let isRunnable = false
  const process = {
    runs: 1,
    runsEnded: 0,
    retire: () => void seen.push("retired"),
    sandbox: {
      usage: () => ({ cpuMs, memoryBytes: 1 }),
      isRunnable: () => isRunnable,
      setPriority: (priority: string) => void seen.push(priority),
      stop: async (reason: string) => void seen.push(`stopped for ${reason}`),
    },
  }
  watched.check(process, nowMs)
  return {
    process,
    seen,
    /** Takes a share of a core for some time, and wants more or not. */
    take(share: number, { steps = 1, wantsMore }: { steps?: number; wantsMore: boolean }) {
      isRunnable = wantsMore
      for (let step = 0; step < steps; step++) {
        nowMs += stepMs
        cpuMs += share * stepMs
        watched.check(process, nowMs)
      }
      return seen.splice(0)
    },
  }
}

describe("CpuWatch", () => {
  test("gives a process that keeps a core busy the lowest priority, and its own again when it pauses", () => {
    const { take } = watch()
    expect(take(0.4, { wantsMore: true })).toEqual([])
    expect(take(1, { wantsMore: true })).toEqual(["idle"])
    expect(take(0.9, { steps: 10, wantsMore: true })).toEqual([])
    expect(take(0.01, { wantsMore: false })).toEqual(["normal"])
  })

  test("does not take for a pause that there is nothing left for it", () => {
    const { take } = watch()
    expect(take(1, { wantsMore: true })).toEqual(["idle"])
    expect(take(0.02, { steps: 100, wantsMore: true })).toEqual([])
    expect(take(0.02, { wantsMore: false })).toEqual(["normal"])
  })

  test("ends what never pauses, however little it gets at a time", () => {
    const { take } = watch(1_000)
    expect(take(1, { steps: 4, wantsMore: true })).toEqual(["idle"])
    expect(take(0.05, { wantsMore: true })).toEqual(["retired", "stopped for cpu"])
  })

  test("leaves alone what is busy with runs that end", () => {
    const { process, take } = watch(1_000)
    for (let step = 0; step < 20; step++) {
      process.runsEnded++
      expect(take(1, { wantsMore: true })).toEqual([])
    }
  })
})
