import { describe, expect, test } from "bun:test"
import { type Backoff, findRetryDelay, toRetryDelay } from "./backoff.ts"

const backoff = { firstMs: 5_000, factor: 4, delayMsMax: 3_600_000, forMs: 86_400_000 }
const middle = 0.5

describe("toRetryDelay", () => {
  test("grows by the factor, up to the maximum", () => {
    const delays = [1, 2, 3, 4, 7, 12].map((attempts) => toRetryDelay(backoff, attempts, 0, middle))
    expect(delays).toEqual([5_000, 20_000, 80_000, 320_000, 3_600_000, 3_600_000])
  })

  test("differs by a fifth in both directions", () => {
    expect([0, 1].map((random) => toRetryDelay(backoff, 2, 0, random))).toEqual([16_000, 24_000])
  })

  test("is any time up to twice the delay when the jitter is 1", () => {
    const any = { ...backoff, jitter: 1 }
    expect([0, middle, 1].map((random) => toRetryDelay(any, 2, 0, random))).toEqual([
      0, 20_000, 40_000,
    ])
  })

  test("waits longer when the receiver asks for it, but not longer than the maximum", () => {
    expect(toRetryDelay(backoff, 1, 60_000, middle)).toBe(60_000)
    expect(toRetryDelay(backoff, 1, 1e12, middle)).toBe(3_600_000)
    expect(toRetryDelay(backoff, 3, 1, middle)).toBe(80_000)
  })
})

describe("findRetryDelay", () => {
  test("gives up when the next attempt would be too late, or one too many", () => {
    const isTried = (limits: Partial<Backoff>, attempts: number, ageMs: number) =>
      findRetryDelay({ ...backoff, ...limits }, { attempts, ageMs }) !== undefined
    expect(isTried({}, 1, backoff.forMs - 6_000)).toBe(true)
    expect(isTried({}, 1, backoff.forMs - 3_999)).toBe(false)
    expect([1, 2, 3].map((attempts) => isTried({ attemptsMax: 3 }, attempts, 0))).toEqual([
      true,
      true,
      false,
    ])
  })

  test("ends after about a day, however often it is tried", () => {
    let [ageMs, attempts] = [0, 0]
    for (;;) {
      attempts += 1
      const delayMs = findRetryDelay(backoff, { attempts, ageMs })
      if (delayMs === undefined) break
      ageMs += delayMs
    }
    expect(ageMs).toBeLessThanOrEqual(backoff.forMs)
    expect(ageMs).toBeGreaterThan(backoff.forMs * 0.9)
  })
})
