import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { TokenBucket, TokenBuckets } from "./token-bucket.ts"

const startMs = Date.parse("2026-01-01T00:00:00.123Z")
const minuteMs = 60_000
const clockSteps = [1_000, 3_600_000, 10 * 365 * 86_400_000]

function takeMany(bucket: TokenBucket, attempts: number, nowMs: number): number {
  return Array.from({ length: attempts }, () => bucket.take(1, nowMs)).filter(Boolean).length
}

describe("TokenBucket", () => {
  test("take succeeds exactly as often as there are tokens, for any capacity and time", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(2 ** 40), (capacity, offset) => {
        const bucket = new TokenBucket(capacity, minuteMs, startMs + offset)
        expect(takeMany(bucket, capacity + 5, startMs + offset)).toBe(capacity)
      }),
      { numRuns: 100 },
    )
    for (const capacity of [1_000, 10_000]) {
      const bucket = new TokenBucket(capacity, minuteMs, startMs)
      expect(takeMany(bucket, capacity + 5, startMs)).toBe(capacity)
    }
  })

  test("take agrees with a bucket in exact numbers, request by request", () => {
    const pauses = fc.array(fc.oneof(fc.constant(0), fc.nat(50), fc.nat(3_000), fc.nat(70_000)), {
      maxLength: 300,
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 120 }), pauses, (capacity, steps) => {
        let nowMs = startMs
        const bucket = new TokenBucket(capacity, minuteMs, nowMs)
        const takeExactly = createExactBucket(capacity, nowMs)
        for (const step of steps) {
          nowMs += step
          expect(bucket.take(1, nowMs)).toBe(takeExactly(nowMs))
        }
      }),
    )
  })

  test("take never succeeds more often than the capacity and the refill of a time span allow", () => {
    const pauses = fc.array(fc.nat(2_000), { minLength: 50, maxLength: 200 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), pauses, (capacity, steps) => {
        let nowMs = startMs
        const bucket = new TokenBucket(capacity, minuteMs, nowMs)
        const taken: number[] = []
        for (const step of steps) {
          nowMs += step
          if (bucket.take(1, nowMs)) taken.push(nowMs)
        }
        for (const [first, from] of taken.entries()) {
          for (const [last, to] of taken.entries()) {
            if (last >= first)
              expect(last - first + 1).toBeLessThanOrEqual(
                capacity + ((to - from) * capacity) / minuteMs,
              )
          }
        }
      }),
      { numRuns: 20 },
    )
  })

  test("take does not charge for a refused request", () => {
    const bucket = new TokenBucket(1, minuteMs, startMs)
    expect(takeMany(bucket, 100, startMs)).toBe(1)
    expect(bucket.take(1, startMs + minuteMs)).toBe(true)
  })

  test("take may exceed what is left, and fails until the debt is paid", () => {
    const bucket = new TokenBucket(600, minuteMs, startMs)
    bucket.take(599, startMs)
    expect(bucket.take(101, startMs)).toBe(true)
    // A debt of 100 at 10 a second, and one token for the next request.
    expect([bucket.take(1, startMs), bucket.msUntilToken]).toEqual([false, 10_100])
    expect(bucket.take(1, startMs + 10_000)).toBe(false)
    expect(bucket.take(1, startMs + 10_100)).toBe(true)
  })

  test("charge never makes a debt larger than the capacity", () => {
    const bucket = new TokenBucket(600, minuteMs, startMs)
    bucket.charge(1e15)
    expect(bucket.msUntilToken).toBe(minuteMs + 100)
    expect(bucket.take(1, startMs + minuteMs + 100)).toBe(true)
  })

  test("take is exact to the byte with a capacity of gigabytes, after years", () => {
    const capacity = 1_000 * 1024 ** 2
    const bucket = new TokenBucket(capacity, minuteMs, startMs)
    const nowMs = startMs + 10 * 365 * 86_400_000
    expect([capacity - 2, 1, 1, 1].map((amount) => bucket.take(amount, nowMs))).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  test("msUntilToken is the time after which take succeeds, and not sooner", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), fc.nat(100_000), (capacity, pause) => {
        const bucket = new TokenBucket(capacity, minuteMs, startMs)
        takeMany(bucket, capacity, startMs)
        const nowMs = startMs + pause
        takeMany(bucket, capacity, nowMs)
        expect(bucket.hasToken).toBe(false)
        const waitMs = Math.ceil(bucket.msUntilToken)
        expect(bucket.take(1, nowMs + waitMs - 1)).toBe(false)
        expect(bucket.take(1, nowMs + waitMs)).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  test.each(clockSteps)("refills from now on when the clock is set back by %i ms", (stepMs) => {
    const bucket = new TokenBucket(10, minuteMs, startMs)
    takeMany(bucket, 10, startMs)
    const nowMs = startMs - stepMs
    expect([bucket.take(1, nowMs), bucket.msUntilToken]).toEqual([false, 6_000])
    expect(bucket.take(1, nowMs + 6_000)).toBe(true)
  })

  test("resize keeps the tokens that are left, up to the new capacity", () => {
    const bucket = new TokenBucket(10, minuteMs, startMs)
    bucket.take(8, startMs)
    bucket.resize(1_000)
    expect(takeMany(bucket, 10, startMs)).toBe(2)
    bucket.resize(10)
    expect(takeMany(bucket, 10, startMs + 6_000)).toBe(1)
    bucket.resize(60)
    bucket.refill(startMs + 10 * minuteMs)
    bucket.resize(3)
    expect([bucket.isFull, takeMany(bucket, 10, startMs + 10 * minuteMs)]).toEqual([true, 3])
  })
})

describe("TokenBuckets", () => {
  const isTaken = (buckets: TokenBuckets, key: string, capacity: number) =>
    buckets.take(key, capacity) === 0

  test("take counts each key by itself", () => {
    const buckets = new TokenBuckets(minuteMs, () => startMs, TokenBucket)
    const results = ["a", "a", "a", "b"].map((key) => buckets.take(key, 2))
    expect(results).toEqual([0, 0, 30_000, 0])
  })

  // Which keys it holds cannot be seen, but a key that was evicted has a full bucket again.
  test("take evicts the oldest keys when there are too many", () => {
    const buckets = new TokenBuckets(minuteMs, () => startMs, TokenBucket)
    for (let index = 0; index < 100_000; index++) buckets.take(`key ${index}`, 1)
    expect(isTaken(buckets, "key 0", 1)).toBe(false)
    for (let index = 100_000; index < 200_000; index++) buckets.take(`key ${index}`, 1)
    expect(isTaken(buckets, "key 199999", 1)).toBe(false)
    expect(isTaken(buckets, "key 0", 1)).toBe(true)
  })

  test("take evicts full buckets before older ones that are in use", () => {
    const clock = { at: startMs }
    const buckets = new TokenBuckets(minuteMs, () => clock.at, TokenBucket)
    buckets.take("busy", 2)
    for (let index = 0; index < 50_000; index++) buckets.take(`old ${index}`, 2)
    clock.at += 50_000
    expect([1, 2, 3].map(() => isTaken(buckets, "busy", 2))).toEqual([true, true, false])
    for (let index = 0; index < 60_000; index++) buckets.take(`new ${index}`, 2)
    expect(isTaken(buckets, "busy", 2)).toBe(false)
  })
})

/** A bucket in big integers: a request costs `minuteMs` units, a millisecond adds `capacity`. */
function createExactBucket(capacity: number, from: number): (at: number) => boolean {
  const levelMax = 60_000n * BigInt(capacity)
  let level = levelMax
  let last = from
  return (at) => {
    level += BigInt(at - last) * BigInt(capacity)
    if (level > levelMax) level = levelMax
    last = at
    if (level < 60_000n) return false
    level -= 60_000n
    return true
  }
}
