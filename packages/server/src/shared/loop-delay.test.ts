import { expect, test } from "bun:test"
import { LoopDelay } from "./loop-delay.ts"

test("LoopDelay measures a pause, and how much of it the thread used the CPU", async () => {
  const loopDelay = new LoopDelay()
  try {
    await Bun.sleep(1)
    for (const startedMs = performance.now(); performance.now() - startedMs < 300; );
    const measured = Promise.withResolvers<void>()
    const timer = setInterval(
      () => loopDelay.report().delay.maxSeconds > 0.2 && measured.resolve(),
      5,
    )
    await measured.promise
    clearInterval(timer)
    const { delay, work, boundsSeconds } = loopDelay.report()
    expect(delay.maxSeconds).toBeGreaterThan(0.2)
    expect(work.maxSeconds).toBeGreaterThan(0)
    expect(work.maxSeconds).toBeLessThanOrEqual(delay.maxSeconds)
    expect(delay.counts).toHaveLength(boundsSeconds.length)
    expect(delay.counts.reduce((sum, count) => sum + count, 0)).toBe(delay.count)
  } finally {
    loopDelay.stop()
  }
})
