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

describe("toFailure", () => {
  for (const [code, { status }] of Object.entries(errorCodes)) {
    test(`says of ${code} in one sentence how it ends`, () => {
      const failure = toFailure(
        new ApiError("Cannot do it: no", { status, code: code as keyof typeof errorCodes }),
      )
      expect(failure?.exit).toBe(
        code === "invalid_request" || code === "invalid_json"
          ? "usage"
          : (byStatus[status] ?? "failed"),
      )
      expect(failure?.text).toMatch(/^Cannot do it: no(; .+[^.])?$/)
    })
  }

  test("has what is wrong with each field, and when to try again", () => {
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

  test("knows the other failures that are expected, and leaves bugs to be seen", () => {
    expect(toFailure(new ConnectionError("Cannot reach it"))?.exit).toBe("unavailable")
    expect(toFailure(new CliError("valFailed", "Cannot", { advice: "do that" }))).toEqual({
      exit: "valFailed",
      text: "Cannot; do that",
    })
    expect(toFailure(new TypeError("x is not a function"))).toBeUndefined()
  })
})

test("exitCodes are different numbers that a shell can tell apart", () => {
  const codes = Object.values(exitCodes).map(({ exit }) => exit)
  expect(new Set(codes).size).toBe(codes.length)
  for (const code of codes) expect(code >= 0 && code <= 255).toBe(true)
})
