import { expect, test } from "bun:test"
import { waitUntil } from "../testing/wait-until.ts"
import { LoopDelay } from "./loop-delay.ts"

test("LoopDelay measures a pause, and how much of it the thread used the CPU", async () => {
  const loopDelay = new LoopDelay()
  try {
    for (const startedMs = performance.now(); performance.now() - startedMs < 300; );
    await waitUntil(() => loopDelay.report().delay.maxSeconds > 0.2)
    const { delay, work } = loopDelay.report()
    expect(delay.maxSeconds).toBeGreaterThan(0.2)
    expect(work.maxSeconds).toBeGreaterThan(0)
    expect(work.maxSeconds).toBeLessThanOrEqual(delay.maxSeconds)
    expect(delay.counts).toHaveLength(delay.boundsSeconds.length)
    expect(delay.counts.reduce((sum, count) => sum + count, 0)).toBe(delay.count)
  } finally {
    loopDelay.stop()
  }
})
