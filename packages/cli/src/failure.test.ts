import { describe, expect, test } from "bun:test"
import { errorCodes } from "@hamlet/contract"
import { ApiError, ConnectionError } from "@hamlet/contract/client"
import { CliError } from "./cli-error.ts"
import { type ExitName, exitCodes } from "./exit-codes.ts"
import { toFailure } from "./failure.ts"

const byStatus: Readonly<Record<number, ExitName>> = {
  401: "refused",
  403: "refused",
  404: "notFound",
  409: "conflict",
  412: "conflict",
  429: "unavailable",
  503: "unavailable",
}
const byCode: Readonly<Record<string, ExitName>> = {
  invalid_request: "usage",
  invalid_json: "usage",
  run_failed: "valFailed",
  run_timed_out: "valTimedOut",
}

describe("toFailure", () => {
  for (const [code, { status }] of Object.entries(errorCodes)) {
    test(`maps ${code} to an exit code and one sentence`, () => {
      const failure = toFailure(
        new ApiError("Cannot do it: no", { status, code: code as keyof typeof errorCodes }),
      )
      expect(failure?.exit).toBe(byCode[code] ?? byStatus[status] ?? "failed")
      expect(failure?.text).toMatch(/^Cannot do it: no(; .+[^.])?$/)
    })
  }

  test("lists the issues of each field, and when to retry", () => {
    const issues = [{ path: "body.name", message: "must be text" }]
    expect(
      toFailure(new ApiError("Cannot accept it", { status: 400, code: "invalid_request", issues }))
        ?.text,
    ).toBe("Cannot accept it (body.name must be text)")
    expect(
      toFailure(new ApiError("Cannot", { status: 429, code: "rate_limited", retryAfterMs: 2_500 }))
        ?.text,
    ).toBe("Cannot; try again in 3 s")
  })

  test("maps other expected failures, and returns undefined for bugs", () => {
    expect(toFailure(new ConnectionError("Cannot reach it"))?.exit).toBe("unavailable")
    expect(toFailure(new CliError("valFailed", "Cannot", { advice: "do that" }))).toEqual({
      exit: "valFailed",
      text: "Cannot; do that",
    })
    expect(toFailure(new TypeError("x is not a function"))).toBeUndefined()
  })
})

test("exitCodes are distinct numbers from 0 to 255", () => {
  const codes = Object.values(exitCodes).map(({ exit }) => exit)
  expect(new Set(codes).size).toBe(codes.length)
  for (const code of codes) expect(code >= 0 && code <= 255).toBe(true)
})
