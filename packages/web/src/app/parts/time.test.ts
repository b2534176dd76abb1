import { describe, expect, test } from "bun:test"
import { toAgo, toClock, toMoment } from "./time.ts"

const now = Date.parse("2026-05-05T12:00:00.000Z")
const ago = (seconds: number) => toAgo(new Date(now - seconds * 1000).toISOString(), now)

describe("toAgo", () => {
  test("names the largest unit that fits", () => {
    expect([ago(0), ago(59), ago(61), ago(7_200), ago(86_400), ago(400 * 86_400)]).toEqual([
      "just now",
      "just now",
      "1 min. ago",
      "2 hr. ago",
      "yesterday",
      "last yr.",
    ])
  })

  test("rounds a time ahead, and counts days up to three months", () => {
    const day = 86_400
    const inDays = (days: number) => ago(1 - days * day)
    expect([ago(-3), ago(-20), ago(-90), ago(-7_000), ago(1 - 2 * 3_600)]).toEqual([
      "just now",
      "in a moment",
      "in 2 min.",
      "in 2 hr.",
      "in 2 hr.",
    ])
    expect([inDays(1), inDays(7), inDays(30), inDays(90), inDays(180), inDays(365)]).toEqual([
      "in 24 hr.",
      "in 7 days",
      "in 30 days",
      "in 90 days",
      "in 6 mo.",
      "in 1 yr.",
    ])
  })
})

test("toClock and toMoment show the same time of day", () => {
  const at = "2026-05-05T17:03:09.042Z"
  expect(toClock(at)).toMatch(/^\d\d:03:09\.042$/)
  expect(toMoment(at)).toEndWith(toClock(at).slice(0, 8))
})
