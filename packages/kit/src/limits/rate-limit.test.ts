import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { alone } from "./budgets.ts"
import { createRateLimiter, minuteMs, RateLimited, type RateLimiter } from "./rate-limit.ts"
import { SharedRates } from "./shared-rates.ts"

const start = Date.parse("2026-01-01T00:00:00.123Z")
const rate = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 2_000 }))

describe("createRateLimiter", () => {
  test("take accepts as many requests at once as the limit allows, for each key", () => {
    const limiter = createLimiter(2, () => start)
    expect(["a", "b"].map((key) => countAtOnce(limiter, key, 5))).toEqual([2, 2])
  })

  test("take returns after how many whole seconds it accepts the next request", () => {
    fc.assert(
      fc.property(rate, fc.nat(100_000), (perMinute, pause) => {
        const clock = { at: start }
        const limiter = createLimiter(perMinute, () => clock.at)
        countAtOnce(limiter, "a", perMinute)
        clock.at += pause
        countAtOnce(limiter, "a", perMinute)
        const seconds = secondsOf(limiter, "a")
        expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60).toBe(true)
        clock.at += (seconds - 1) * 1000
        if (seconds > 1) expect(isTaken(limiter, "a")).toBe(false)
        clock.at += 1000
        expect(isTaken(limiter, "a")).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  test("take throws rate_limited with the time to wait", () => {
    const limiter = createLimiter(4, () => start)
    countAtOnce(limiter, "a", 4)
    expect(() => limiter.take("a")).toThrow(
      "Cannot take more requests from you now: try again in 15 s",
    )
    expect(errorOf(limiter, "a")).toMatchObject({ code: "rate_limited", retryAfterSeconds: 15 })
  })

  test.each([1_000, 3_600_000, 10 * 365 * 86_400_000])(
    "take refuses a key for at most a minute when the clock is set back by %i ms",
    (back) => {
      const clock = { at: start }
      const limiter = createLimiter(10, () => clock.at)
      countAtOnce(limiter, "a", 10)
      clock.at -= back
      expect(isTaken(limiter, "a") || secondsOf(limiter, "a") <= 61).toBe(true)
      clock.at += 61_000
      expect(isTaken(limiter, "a")).toBe(true)
    },
  )
})

function createLimiter(perMinute: number, now: () => number): RateLimiter {
  return createRateLimiter(perMinute, new SharedRates("requests", minuteMs, now, alone))
}

function isTaken(limiter: RateLimiter, key: string): boolean {
  return errorOf(limiter, key) === undefined
}

function errorOf(limiter: RateLimiter, key: string): unknown {
  try {
    void limiter.take(key)
    return undefined
  } catch (error) {
    return error
  }
}

function secondsOf(limiter: RateLimiter, key: string): number {
  const error = errorOf(limiter, key)
  return error instanceof RateLimited ? error.retryAfterSeconds : Number.NaN
}

function countAtOnce(limiter: RateLimiter, key: string, attempts: number): number {
  return Array.from({ length: attempts }, () => isTaken(limiter, key)).filter(Boolean).length
}
