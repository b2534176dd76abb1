import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { alone } from "./budgets.ts"
import { minuteMs, RateLimited } from "./rate-limit.ts"
import { SharedRates } from "./shared-rates.ts"
import { createUsageMeter, type UsageMeter } from "./usage-meter.ts"

const start = Date.parse("2026-01-01T00:00:00.000Z")
const refusal = "Cannot do it: no more;"

describe("createUsageMeter", () => {
  test("take succeeds as often as the limit allows, and once more when a token has refilled", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(2 ** 40), (perMinute, time) => {
        const clock = { at: start + time }
        const meter = createMeter(
          () => perMinute,
          refusal,
          () => clock.at,
        )
        expect(countAtOnce(meter, perMinute + 5)).toBe(perMinute)
        clock.at += Math.ceil(60_000 / perMinute)
        expect(countAtOnce(meter, 2)).toBeGreaterThanOrEqual(1)
        clock.at += 60_000
        expect(countAtOnce(meter, perMinute + 5)).toBe(perMinute)
      }),
      { numRuns: 50 },
    )
  })

  test("take may exceed what is left; the next one waits until the debt is paid", () => {
    const clock = { at: start }
    const meter = createMeter(
      () => 600,
      refusal,
      () => clock.at,
    )
    meter.takeNow("ada", 599)
    meter.takeNow("ada", 101)
    // 100 too many, at 10 a second, and one for the next.
    expect(errorOf(() => meter.takeNow("ada", 1))).toMatchObject({
      code: "rate_limited",
      retryAfterSeconds: 11,
      message: "Cannot do it: no more; try again in 11 s",
    })
    clock.at += 10_000
    expect(errorOf(() => meter.takeNow("ada", 1))).toBeInstanceOf(RateLimited)
    clock.at += 1_000
    meter.takeNow("ada", 1)
  })

  test("take never makes a user wait for more than a minute, however much was taken", () => {
    const clock = { at: start }
    const meter = createMeter(
      () => 600,
      refusal,
      () => clock.at,
    )
    meter.takeNow("ada", 1e15)
    expect(errorOf(() => meter.takeNow("ada", 1))).toMatchObject({ retryAfterSeconds: 61 })
    clock.at += 61_000
    meter.takeNow("ada", 1)
  })

  test("take is exact to the byte with a limit of gigabytes, after years", () => {
    const clock = { at: start }
    const perMinute = 1_000 * 1024 ** 2
    const meter = createMeter(
      () => perMinute,
      refusal,
      () => clock.at,
    )
    clock.at += 10 * 365 * 86_400_000
    meter.takeNow("ada", perMinute - 2)
    meter.takeNow("ada", 1)
    meter.takeNow("ada", 1)
    expect(errorOf(() => meter.takeNow("ada", 1))).toBeInstanceOf(RateLimited)
  })

  test("usedBy counts each user separately, without refused requests", () => {
    const meter = createMeter(
      () => 2,
      refusal,
      () => start,
    )
    expect([countAtOnce(meter, 5, "ada"), countAtOnce(meter, 1, "bob")]).toEqual([2, 1])
    expect([meter.usedBy("ada"), meter.usedBy("bob"), meter.usedBy("eve")]).toEqual([
      { lastMinute: 2, sinceStart: 2 },
      { lastMinute: 1, sinceStart: 1 },
      { lastMinute: 0, sinceStart: 0 },
    ])
  })

  test("take refuses nothing without a limit, and counts all the same", () => {
    const meter = createMeter(
      () => undefined,
      refusal,
      () => start,
    )
    for (let count = 0; count < 10_000; count++) meter.takeNow("ada", 1e9)
    expect(meter.usedBy("ada")).toEqual({ lastMinute: 1e13, sinceStart: 1e13 })
  })

  test("usedBy covers at least the last 50 and at most the last 60 seconds", () => {
    const steps = fc.array(
      fc.record({
        pause: fc.oneof(fc.nat(500), fc.nat(30_000), fc.nat(200_000)),
        amount: fc.nat(100),
      }),
      {
        maxLength: 100,
      },
    )
    fc.assert(
      fc.property(steps, fc.nat(60_000), (taken, offset) => {
        const clock = { at: start + offset }
        const meter = createMeter(
          () => undefined,
          refusal,
          () => clock.at,
        )
        const all: { at: number; amount: number }[] = []
        for (const { pause, amount } of taken) {
          clock.at += pause
          meter.takeNow("ada", amount)
          all.push({ at: clock.at, amount })
          const since = (ms: number) =>
            all.filter(({ at }) => clock.at - at < ms).reduce((sum, it) => sum + it.amount, 0)
          const { lastMinute, sinceStart } = meter.usedBy("ada")
          expect(lastMinute).toBeLessThanOrEqual(since(60_000))
          expect(lastMinute).toBeGreaterThanOrEqual(since(50_000))
          expect(sinceStart).toBe(all.reduce((sum, it) => sum + it.amount, 0))
        }
      }),
    )
  })

  test("take keeps what is left when the limit of a user changes", () => {
    let perMinute = 1_000
    const meter = createMeter(
      () => perMinute,
      refusal,
      () => start,
    )
    meter.takeNow("ada", 995)
    perMinute = 10
    expect(countAtOnce(meter, 20)).toBe(5)
    perMinute = 1_000
    expect(countAtOnce(meter, 20)).toBe(0)
  })

  test.each([1_000, 3_600_000, 10 * 365 * 86_400_000])(
    "take refuses a user for at most a minute when the clock is set back by %i ms",
    (back) => {
      const clock = { at: start }
      const meter = createMeter(
        () => 10,
        refusal,
        () => clock.at,
      )
      expect(countAtOnce(meter, 20)).toBe(10)
      clock.at -= back
      const error = errorOf(() => meter.takeNow("ada", 1))
      if (error !== undefined)
        expect((error as RateLimited).retryAfterSeconds).toBeLessThanOrEqual(61)
      clock.at += 61_000
      meter.takeNow("ada", 1)
      expect(meter.usedBy("ada").lastMinute).toBeLessThanOrEqual(11)
    },
  )

  test("take drops the counter that was used longest ago when there are too many users", () => {
    const meter = createMeter(
      () => 1,
      refusal,
      () => start,
    )
    for (let index = 0; index < 100_000; index++) meter.takeNow(`user ${index}`, 1)
    expect(meter.usedBy("user 0").sinceStart).toBe(1)
    meter.takeNow("one more", 1)
    expect([
      meter.usedBy("user 0").sinceStart,
      meter.usedBy("user 1").sinceStart,
      meter.usedBy("one more").sinceStart,
    ]).toEqual([1, 0, 1])
  })
})

function createMeter(
  perMinuteOf: (userId: string) => number | undefined,
  refusal: string,
  now: () => number,
): UsageMeter {
  return createUsageMeter(perMinuteOf, refusal, new SharedRates("r", minuteMs, now, alone), now)
}

function countAtOnce(meter: UsageMeter, tries: number, userId = "ada"): number {
  let count = 0
  for (let index = 0; index < tries; index++)
    if (errorOf(() => meter.takeNow(userId, 1)) === undefined) count += 1
  return count
}

function errorOf(work: () => void): unknown {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}
