import { describe, expect, test } from "bun:test"
import { Cron } from "croner"
import { measureSlowness } from "../../../test/freeze/loop-meter.ts"
import { AppError } from "../app-error.ts"
import {
  findLastTime,
  findNextTime,
  listNextTimes,
  readTiming,
  type Timing,
  type TimingInput,
} from "./timing.ts"

const now = Date.parse("2026-11-16T08:30:00Z")

function toIssue(input: TimingInput, secondsMin = 1): string {
  try {
    readTiming(input, secondsMin, now)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return `${error.code} ${error.issues?.map(({ path, message }) => `${path} ${message}`)}`
  }
  return "accepted"
}

function toCron(cron: string, timeZone = "UTC"): Timing {
  return { cron, every: null, timeZone }
}

function toTimes(timing: Timing, after: string, countMax: number, anchorAt = now): string {
  const times = listNextTimes(timing, anchorAt, Date.parse(after), countMax)
  return times.map((at) => new Date(at).toISOString().replace(":00.000Z", "Z")).join(" ")
}

describe("readTiming", () => {
  test.each([
    [{ cron: " 0  9 * * mon-FRI " }, { cron: "0 9 * * mon-FRI", every: null, timeZone: "UTC" }],
    [{ cron: "@daily" }, { cron: "@daily", every: null, timeZone: "UTC" }],
    [
      { cron: "*/10 * * * * *", timeZone: "europe/berlin" },
      { cron: "*/10 * * * * *", every: null, timeZone: "Europe/Berlin" },
    ],
    [{ every: "15M" }, { cron: null, every: "15m", timeZone: "UTC" }],
    [{ every: "1h 30m" }, { cron: null, every: "1h30m", timeZone: "UTC" }],
    [{ every: "366d" }, { cron: null, every: "366d", timeZone: "UTC" }],
  ])("accepts %o and writes it in its usual form", (input, timing) => {
    expect(readTiming(input, 1, now)).toEqual(timing)
  })

  test.each([
    "0 0 L * *",
    "0 0 * * 5L",
    "0 0 * * FRI#L",
    "0 0 * * MON#2",
    "0 0 15W * *",
    "0 12 1 * +MON",
    "0 0 ? * MON",
    "0 0 29 2 *",
    "0 9-17/2 * JAN,JUL *",
  ])("accepts %s as croner reads it", (cron) => {
    expect(toIssue({ cron })).toBe("accepted")
  })

  test.each<[TimingInput, RegExp]>([
    [{}, /^invalid_request cron is missing: send either cron or every$/],
    [{ cron: "* * * * *", every: "1m" }, /^invalid_request every must not be combined with cron$/],
    [{ cron: "* * * *" }, /^invalid_request cron must have five fields .*; it has 4$/],
    [{ cron: "* * * * * * 2030" }, /^invalid_request cron must have five fields .*; it has 7$/],
    [{ cron: "2030-01-01T00:00:00" }, /^invalid_request cron must have five fields .*; it has 1$/],
    [{ cron: "61 * * * *" }, /^invalid_request cron is not a cron expression: .*61/],
    [{ cron: "* 24 * * *" }, /^invalid_request cron is not a cron expression: /],
    [{ cron: "*/0 * * * *" }, /^invalid_request cron is not a cron expression: /],
    [{ cron: "a b c d e" }, /^invalid_request cron is not a cron expression: /],
    [{ cron: "@reboot" }, /^invalid_request cron is not a cron expression: /],
    [{ cron: "@never" }, /^invalid_request cron is not a cron expression: /],
    [{ cron: "0 0 30 2 *" }, /^invalid_request cron is never due: no date matches it$/],
    [{ every: "15" }, /^invalid_request every must be a duration such as/],
    [{ every: "-5m" }, /^invalid_request every must be a duration such as/],
    [{ every: "1.5h" }, /^invalid_request every must be a duration such as/],
    [{ every: "0s" }, /^invalid_request every must be at least 1 second$/],
    [{ every: "367d" }, /^invalid_request every must be at most 366 days$/],
    [{ every: "1d".repeat(400) }, /^invalid_request every must be at most 366 days$/],
    [{ every: "1h", timeZone: "Mars/Olympus" }, /^invalid_request timeZone must be the name/],
    [{ every: "1h", timeZone: "+02:00" }, /^invalid_request timeZone must be the name/],
  ])("refuses %o and says why", (input, issue) => {
    expect(toIssue(input)).toMatch(issue)
  })

  test("refuses what is due more often than the server allows", () => {
    expect(toIssue({ every: "59s" }, 60)).toBe("invalid_request every must be at least 60 seconds")
    expect(toIssue({ cron: "0,30 * * * * *" }, 60)).toBe(
      "invalid_request cron must be due at most every 60 seconds",
    )
    expect(toIssue({ cron: "5,6 0 0 1 1 *" }, 60)).toMatch(/at most every 60 seconds/)
    expect([toIssue({ every: "1m" }, 60), toIssue({ cron: "* * * * *" }, 60)]).toEqual([
      "accepted",
      "accepted",
    ])
  })
})

describe("findNextTime", () => {
  test("counts the times of every from the anchor, and never returns one that has passed", () => {
    const timing: Timing = { cron: null, every: "15m", timeZone: "UTC" }
    const anchorAt = Date.parse("2026-11-16T08:07:11Z")
    expect(toTimes(timing, "2026-11-16T08:30:00Z", 2, anchorAt)).toBe(
      "2026-11-16T08:37:11.000Z 2026-11-16T08:52:11.000Z",
    )
    // A due time itself has passed; a time before the anchor is before the first due time.
    expect(toTimes(timing, "2026-11-16T08:22:11Z", 1, anchorAt)).toBe("2026-11-16T08:37:11.000Z")
    expect(toTimes(timing, "2020-01-01T00:00:00Z", 1, anchorAt)).toBe("2026-11-16T08:22:11.000Z")
  })

  test("runs a fixed time once when daylight saving repeats it, and after the gap when it skips it", () => {
    const berlin = toCron("30 2 * * *", "Europe/Berlin")
    expect(toTimes(berlin, "2026-10-24T12:00:00Z", 2)).toBe("2026-10-25T00:30Z 2026-10-26T01:30Z")
    expect(toTimes(berlin, "2026-03-28T12:00:00Z", 2)).toBe("2026-03-29T01:00Z 2026-03-30T00:30Z")
    // 30 minutes of daylight saving.
    const lordHowe = toCron("45 1 * * *", "Australia/Lord_Howe")
    expect(toTimes(lordHowe, "2026-04-04T00:00:00Z", 2)).toBe("2026-04-04T14:45Z 2026-04-05T15:15Z")
  })

  test("follows the real clock through a repeated hour and over a gap for several times an hour", () => {
    const berlin = toCron("*/20 * * * *", "Europe/Berlin")
    expect(toTimes(berlin, "2026-10-25T00:40:00Z", 4)).toBe(
      "2026-10-25T01:00Z 2026-10-25T01:20Z 2026-10-25T01:40Z 2026-10-25T02:00Z",
    )
    expect(toTimes(berlin, "2026-03-29T00:40:00Z", 2)).toBe("2026-03-29T01:00Z 2026-03-29T01:20Z")
  })
})

test("findNextTime is due on the first of March and on Mondays, in every year", () => {
  for (const year of [2025, 2026, 2027, 2031]) {
    const timing = toCron("0 0 1 * MON")
    const times = listNextTimes(timing, 0, Date.UTC(year, 1, 20), 4).map((at) => new Date(at))
    expect(times.map((at) => at.getUTCDay() === 1 || at.getUTCDate() === 1)).not.toContain(false)
    expect(times.some((at) => at.getTime() === Date.UTC(year, 2, 1))).toBe(true)
    const last = findLastTime(timing, 0, 0, Date.UTC(year, 2, 1, 12))
    expect(last).toBe(Date.UTC(year, 2, 1))
  }
})

describe("findLastTime", () => {
  test.each<[Timing, string, string]>([
    [{ cron: null, every: "15m", timeZone: "UTC" }, "2026-11-16T10:14:59Z", "2026-11-16T10:00Z"],
    [{ cron: null, every: "15m", timeZone: "UTC" }, "2026-11-16T10:15:00Z", "2026-11-16T10:15Z"],
    [toCron("*/15 * * * *"), "2026-11-16T10:14:59.999Z", "2026-11-16T10:00Z"],
    [toCron("*/15 * * * *"), "2026-11-16T10:15:00Z", "2026-11-16T10:15Z"],
    [toCron("*/15 * * * *"), "2026-11-16T08:30:00Z", "2026-11-16T08:30Z"],
  ])("is the last due time of %o until %s", (timing, until, expected) => {
    const last = findLastTime(timing, now, now, Date.parse(until))
    expect(new Date(last).toISOString().replace(":00.000Z", "Z")).toBe(expected)
  })

  test("equals the last of the next times", () => {
    for (const cron of ["*/7 * * * *", "0 9 * * 1-5", "30 2 * * *", "0 0 L * *"]) {
      const timing = toCron(cron, "America/New_York")
      const times = listNextTimes(timing, now, now, 20)
      const [first = 0] = times
      for (const at of times) {
        expect(findLastTime(timing, now, first, at)).toBe(at)
        expect(findLastTime(timing, now, first, (findNextTime(timing, now, at) ?? 0) - 1)).toBe(at)
      }
    }
  })
})

describe("the search for rare dates", () => {
  test("ends after 40 years", () => {
    const times = toTimes(toCron("0 0 29 2 +MON"), "2073-01-01T00:00:00Z", 10)
    expect(times).toBe("2112-02-29T00:00Z")
    expect(findNextTime(toCron("0 0 30 2 *"), now, now)).toBeNull()
  })

  test("reads names of expressions as croner does", () => {
    const zone = "Europe/Berlin"
    for (const name of [
      "@yearly",
      "@Annually",
      "@monthly",
      "@weekly",
      "@daily",
      "@midnight",
      "@hourly",
    ])
      expect(findNextTime(toCron(name, zone), now, now)).toBe(
        new Cron(name, { timezone: zone, paused: true }).nextRun(new Date(now))?.getTime() ?? null,
      )
  })

  test.each(["59 59 23 29 2 +7#5", "0 0 29 2 +MON", "0 0 0 30 2 +7#5"])(
    "of %s takes little time of the processor",
    (cron) => {
      const measure = () => {
        const before = process.cpuUsage()
        toIssue({ cron }, 60)
        listNextTimes(toCron(cron), now, now, 10)
        const { user, system } = process.cpuUsage(before)
        return (user + system) / 1_000
      }
      expect(Math.min(...Array.from({ length: 10 }, measure))).toBeLessThan(15 * measureSlowness())
    },
  )
})
