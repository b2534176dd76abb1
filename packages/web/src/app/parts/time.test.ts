import { describe, expect, test } from "bun:test"
import { toAgo } from "./time.ts"

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
})
