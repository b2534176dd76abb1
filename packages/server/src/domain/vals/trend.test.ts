import { describe, expect, test } from "bun:test"
import { addToTrend, removeFromTrend } from "./trend.ts"

const weekMs = 7 * 86_400_000
const now = 1_800_000_000_000

describe("addToTrend", () => {
  test("makes two likes count as much as one that is a week younger", () => {
    expect(addToTrend(addToTrend(0, now), now)).toBe(addToTrend(0, now + weekMs))
  })

  test("lets one new like overtake ten old ones after four weeks", () => {
    const old = Array.from({ length: 10 }, () => now).reduce(addToTrend, 0)
    expect(addToTrend(0, now + 3 * weekMs)).toBeLessThan(old)
    expect(addToTrend(0, now + 4 * weekMs)).toBeGreaterThan(old)
  })

  test("gives the same trend in any order", () => {
    const times = [now, now + weekMs / 3, now + 2 * weekMs]
    const trends = [times, times.toReversed()].map((it) => it.reduce(addToTrend, 0))
    expect(Math.abs((trends[0] ?? 0) - (trends[1] ?? 0))).toBeLessThanOrEqual(2)
  })
})

describe("removeFromTrend", () => {
  test("undoes a like, so that liking again and again changes nothing", () => {
    const trend = addToTrend(addToTrend(0, now), now + weekMs)
    let cycled = trend
    for (let count = 0; count < 100; count += 1)
      cycled = removeFromTrend(addToTrend(cycled, now + weekMs), now + weekMs)
    expect(Math.abs(cycled - trend)).toBeLessThanOrEqual(200)
  })

  test("is nothing without the only like", () => {
    expect(removeFromTrend(addToTrend(0, now), now)).toBe(0)
  })
})
