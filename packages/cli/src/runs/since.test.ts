import { describe, expect, test } from "bun:test"
import { InvalidArgumentError } from "commander"
import { toFutureMoment, toMoment } from "./since.ts"

describe("toMoment", () => {
  test("reads spans before now, days and ISO-8601", () => {
    const hours = (Date.now() - toMoment("2h").getTime()) / 3_600_000
    expect(Math.round(hours)).toBe(2)
    expect(toMoment("2026-01-31").toISOString()).toBe("2026-01-31T00:00:00.000Z")
    expect(toMoment("2026-01-31T12:00:00+01:00").toISOString()).toBe("2026-01-31T11:00:00.000Z")
    expect(toFutureMoment("3d").getTime()).toBeGreaterThan(Date.now())
  })

  for (const text of ["", "1", "h", "2 h", "-2h", "yesterday", "2026", "2026-13-01", "31.1.2026"])
    test(`refuses "${text}"`, () => expect(() => toMoment(text)).toThrow(InvalidArgumentError))
})
