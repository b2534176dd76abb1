import { describe, expect, test } from "bun:test"
import { type ErrorCode, errorCodes, isRetryable, toRetryHeaders } from "../errors.ts"
import { clientLimits } from "./limits.ts"
import { canRetry, toRetryAfterMs, toRetryMs } from "./retry.ts"

const nowMs = Date.UTC(2024, 0, 1)

describe("canRetry", () => {
  const table: [
    status: number | undefined,
    advice: string | undefined,
    isRepeatable: boolean,
    expected: boolean,
  ][] = [
    [undefined, undefined, true, true],
    [undefined, undefined, false, false],
    [429, undefined, false, true],
    [503, undefined, false, true],
    [503, "false", true, false],
    [429, "false", true, false],
    [409, "true", true, true],
    [500, "true", true, true],
    [503, "perhaps", true, true],
    [400, undefined, true, false],
    [404, undefined, true, false],
    [409, undefined, true, false],
    [412, undefined, true, false],
    [500, undefined, true, false],
    [502, undefined, true, false],
  ]
  for (const [status, advice, isRepeatable, expected] of table) {
    test(`is ${expected} for ${status ?? "no answer"}, advice ${advice}, repeatable ${isRepeatable}`, () => {
      const headers = new Headers(advice === undefined ? {} : { "x-should-retry": advice })
      expect(canRetry(status === undefined ? undefined : { status, headers }, isRepeatable)).toBe(
        expected,
      )
    })
  }

  test.each(Object.keys(errorCodes) as ErrorCode[])("follows the error table for %s", (code) => {
    const headers = new Headers(toRetryHeaders(code, 1))
    expect(canRetry({ status: errorCodes[code].status, headers }, false)).toBe(isRetryable(code))
  })
})

describe("toRetryAfterMs", () => {
  const table: [value: string | undefined, expected: number | undefined][] = [
    [undefined, undefined],
    ["0", 0],
    ["7", 7_000],
    ["Mon, 01 Jan 2024 00:01:30 GMT", 90_000],
    ["Monday, 01-Jan-24 00:01:30 GMT", 90_000],
    ["Sun, 31 Dec 2023 23:59:59 GMT", 0],
    ["-5", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["", undefined],
    ["2024-01-01", undefined],
    ["Mon, rubbish GMT", undefined],
  ]
  for (const [value, expected] of table) {
    test(`reads ${value === undefined ? "no header" : `"${value}"`} as ${expected}`, () => {
      expect(
        toRetryAfterMs(new Headers(value === undefined ? {} : { "retry-after": value }), nowMs),
      ).toBe(expected)
    })
  }
})

describe("toRetryMs", () => {
  const asking = (value: string) => ({
    status: 429,
    headers: new Headers({ "retry-after": value }),
  })

  test("waits for retry-after, up to the limit", () => {
    expect(toRetryMs(asking("7"), 0, nowMs, 0.5)).toBe(7_000)
    expect(toRetryMs(asking("86400"), 0, nowMs, 0.5)).toBe(clientLimits.retryAfterMsMax)
    expect(toRetryMs(asking("Tue, 02 Jan 2024 00:00:00 GMT"), 0, nowMs, 0.5)).toBe(
      clientLimits.retryAfterMsMax,
    )
  })

  test("doubles with each attempt, up to the limit, without retry-after", () => {
    const waits = [0, 1, 2, 3, 4, 5, 1_000].map((attempt) =>
      toRetryMs(undefined, attempt, nowMs, 0),
    )
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
  })

  test("subtracts up to a half at random", () => {
    expect(toRetryMs(undefined, 0, nowMs, 0.5)).toBe(375)
    expect(toRetryMs(asking("rubbish"), 1, nowMs, 0.999)).toBeCloseTo(500.5)
  })
})
