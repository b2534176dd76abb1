import type { Clock } from "../../src/client.ts"

/** A clock that stands still and notes how long it was asked to wait. */
export interface FakeClock extends Clock {
  readonly waitsMs: number[]
}

/** Makes a clock whose waits are over at once. */
export function createFakeClock(nowMs = 0): FakeClock {
  const waitsMs: number[] = []
  return {
    waitsMs,
    now: () => nowMs,
    async sleep(ms) {
      waitsMs.push(ms)
    },
  }
}
