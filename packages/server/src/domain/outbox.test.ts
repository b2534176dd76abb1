import { describe, expect, test } from "bun:test"
import { type Backoff, toRetryDelayMs } from "./outbox.ts"

const backoff: Backoff = { firstMs: 5_000, factor: 4, delayMsMax: 3_600_000, forMs: 86_400_000 }
const middle = () => 0.5

describe("toRetryDelayMs", () => {
  test("grows by the factor, up to the maximum", () => {
    const delays = [1, 2, 3, 4, 7, 12].map((attempts) =>
      toRetryDelayMs(backoff, attempts, 0, 0, middle),
    )
    expect(delays).toEqual([5_000, 20_000, 80_000, 320_000, 3_600_000, 3_600_000])
  })

  test("differs by a fifth in both directions", () => {
    expect(toRetryDelayMs(backoff, 2, 0, 0, () => 0)).toBe(16_000)
    expect(toRetryDelayMs(backoff, 2, 0, 0, () => 1)).toBe(24_000)
  })

  test("gives up when the next attempt would be too late", () => {
    const age = backoff.forMs - 5_000
    expect(toRetryDelayMs(backoff, 1, age, 0, middle)).toBe(5_000)
    expect(toRetryDelayMs(backoff, 1, age + 1, 0, middle)).toBeUndefined()
  })

  test("waits longer when the receiver asks for it, but not longer than the maximum", () => {
    expect(toRetryDelayMs(backoff, 1, 0, 60_000, middle)).toBe(60_000)
    expect(toRetryDelayMs(backoff, 1, 0, 1e12, middle)).toBe(3_600_000)
    expect(toRetryDelayMs(backoff, 3, 0, 1, middle)).toBe(80_000)
  })

  test("ends after about a day, however often it is tried", () => {
    let [age, attempts] = [0, 0]
    for (;;) {
      attempts += 1
      const delay = toRetryDelayMs(backoff, attempts, age)
      if (delay === undefined) break
      age += delay
    }
    expect(age).toBeLessThanOrEqual(backoff.forMs)
    expect(age).toBeGreaterThan(backoff.forMs * 0.9)
  })
})
