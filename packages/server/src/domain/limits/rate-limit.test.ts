import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createRateLimiter, RateLimited, type RateLimiter } from "./rate-limit.ts"

const start = Date.parse("2026-01-01T00:00:00.123Z")
const rate = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 2_000 }))

describe("createRateLimiter", () => {
  test("lets exactly as many in at once as the limit says, whatever the limit and the time", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(2 ** 40), (perMinute, time) => {
        const limiter = createRateLimiter(perMinute, () => start + time)
        expect(countAtOnce(limiter, "a", perMinute + 5)).toBe(perMinute)
      }),
      { numRuns: 100 },
    )
    for (const perMinute of [1_000, 10_000]) {
      expect(
        countAtOnce(
          createRateLimiter(perMinute, () => start),
          "a",
          perMinute + 5,
        ),
      ).toBe(perMinute)
    }
  })

  test("lets in what a bucket that fills evenly would let in, request by request", () => {
    const pauses = fc.array(fc.oneof(fc.constant(0), fc.nat(50), fc.nat(3_000), fc.nat(70_000)), {
      maxLength: 300,
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 120 }), pauses, (perMinute, steps) => {
        const clock = { at: start }
        const limiter = createRateLimiter(perMinute, () => clock.at)
        const bucket = createBucket(perMinute, start)
        for (const step of steps) {
          clock.at += step
          expect(isTaken(limiter, "a")).toBe(bucket(clock.at))
        }
      }),
    )
  })

  test("never lets in more than the limit and what a span of time fills up again", () => {
    const pauses = fc.array(fc.nat(2_000), { minLength: 50, maxLength: 200 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), pauses, (perMinute, steps) => {
        const clock = { at: start }
        const limiter = createRateLimiter(perMinute, () => clock.at)
        const taken: number[] = []
        for (const step of steps) {
          clock.at += step
          if (isTaken(limiter, "a")) taken.push(clock.at)
        }
        for (const [first, from] of taken.entries()) {
          for (const [last, to] of taken.entries()) {
            if (last >= first)
              expect(last - first + 1).toBeLessThanOrEqual(
                perMinute + ((to - from) * perMinute) / 60_000,
              )
          }
        }
      }),
      { numRuns: 20 },
    )
  })

  test("says after how many whole seconds the next request will be let in, and not a second more", () => {
    fc.assert(
      fc.property(rate, fc.nat(100_000), (perMinute, pause) => {
        const clock = { at: start }
        const limiter = createRateLimiter(perMinute, () => clock.at)
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

  test("counts a refused request for nothing", () => {
    const clock = { at: start }
    const limiter = createRateLimiter(1, () => clock.at)
    expect(countAtOnce(limiter, "a", 100)).toBe(1)
    clock.at += 60_000
    expect(isTaken(limiter, "a")).toBe(true)
  })

  test("counts each key by itself", () => {
    const limiter = createRateLimiter(2, () => start)
    expect(["a", "b"].map((key) => countAtOnce(limiter, key, 5))).toEqual([2, 2])
  })

  test("refuses with rate_limited, and says when to try again", () => {
    const limiter = createRateLimiter(4, () => start)
    countAtOnce(limiter, "a", 4)
    expect(() => limiter.take("a")).toThrow(
      "Cannot take more requests from you now: try again in 15 s",
    )
    expect(errorOf(limiter, "a")).toMatchObject({ code: "rate_limited", retryAfterSeconds: 15 })
  })

  test.each([1_000, 3_600_000, 10 * 365 * 86_400_000])(
    "keeps nobody out for longer than a minute when the clock is set back by %i ms",
    (back) => {
      const clock = { at: start }
      const limiter = createRateLimiter(10, () => clock.at)
      countAtOnce(limiter, "a", 10)
      clock.at -= back
      expect(isTaken(limiter, "a") || secondsOf(limiter, "a") <= 61).toBe(true)
      clock.at += 61_000
      expect(isTaken(limiter, "a")).toBe(true)
    },
  )

  // Which keys it knows cannot be seen, but that it has forgotten one can.
  test("forgets the keys that came first when there are too many to count", () => {
    const limiter = createRateLimiter(1, () => start)
    for (let index = 0; index < 100_000; index++) limiter.take(`key ${index}`)
    expect(isTaken(limiter, "key 0")).toBe(false)
    for (let index = 100_000; index < 200_000; index++) limiter.take(`key ${index}`)
    expect(isTaken(limiter, "key 199999")).toBe(false)
    expect(isTaken(limiter, "key 0")).toBe(true)
  })

  test("forgets those whose bucket is full before anybody who has used theirs up, however long it knows them", () => {
    const clock = { at: start }
    const limiter = createRateLimiter(2, () => clock.at)
    limiter.take("busy")
    for (let index = 0; index < 50_000; index++) limiter.take(`old ${index}`)
    clock.at += 50_000
    expect(countAtOnce(limiter, "busy", 3)).toBe(2)
    for (let index = 0; index < 60_000; index++) limiter.take(`new ${index}`)
    expect(isTaken(limiter, "busy")).toBe(false)
  })
})

function isTaken(limiter: RateLimiter, key: string): boolean {
  return errorOf(limiter, key) === undefined
}

function errorOf(limiter: RateLimiter, key: string): unknown {
  try {
    limiter.take(key)
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

/**
 * The same in exact numbers: a request costs a minute's worth of units, and a millisecond brings as
 * many units as the limit says.
 */
function createBucket(perMinute: number, from: number): (at: number) => boolean {
  const capacity = 60_000n * BigInt(perMinute)
  let level = capacity
  let last = from
  return (at) => {
    level += BigInt(at - last) * BigInt(perMinute)
    if (level > capacity) level = capacity
    last = at
    if (level < 60_000n) return false
    level -= 60_000n
    return true
  }
}
