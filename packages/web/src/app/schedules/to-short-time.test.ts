import { describe, expect, test } from "bun:test"
import { toShortTime } from "./to-short-time.ts"

const base = { isPaused: false, every: null, nextAt: [], timeZone: "UTC" }

describe("toShortTime", () => {
  test("says the time of day at the place of the time zone", () => {
    const nextAt = ["2026-01-02T01:30:00.000Z", "2026-01-03T01:30:00.000Z"]
    expect(toShortTime({ ...base, nextAt, timeZone: "Europe/Berlin" })).toBe("02:30 Berlin")
    expect(toShortTime({ ...base, nextAt, timeZone: "America/New_York" })).toBe("20:30 New York")
    expect(toShortTime({ ...base, nextAt })).toBe("01:30 UTC")
  })

  test("says why there is no time of day", () => {
    expect(toShortTime(undefined)).toBe("no schedule")
    expect(toShortTime(base)).toBe("never due again")
    expect(toShortTime({ ...base, every: "15m" })).toBe("every 15m")
    expect(toShortTime({ ...base, every: "15m", isPaused: true })).toBe("paused")
  })
})
