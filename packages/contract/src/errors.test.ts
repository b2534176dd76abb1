import { describe, expect, test } from "bun:test"
import { type ErrorCode, errorCodes, isRetryable, statusTexts, toRetryHeaders } from "./errors.ts"
import type { RouteDefinition } from "./route.ts"
import { errorsOf, routeNames, routes } from "./routes.ts"
import { errorBody } from "./schemas/records.ts"

describe("errorCodes", () => {
  for (const [code, { status, meaning }] of Object.entries(errorCodes)) {
    test(`${code} has a name in lower case, a status with a text, and a meaning in a sentence`, () => {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
      expect(statusTexts[status]).toMatch(/^[A-Z][A-Za-z ]+$/)
      expect(meaning).toMatch(/^[A-Z].+\.$/s)
      expect(
        errorBody.safeParse({
          statusCode: status,
          error: statusTexts[status],
          code,
          message: "m",
          requestId: "r",
        }).success,
      ).toBe(true)
    })
  }

  test("use every status text", () => {
    const used = new Set(Object.values(errorCodes).map(({ status }) => String(status)))
    expect(Object.keys(statusTexts).sort()).toEqual([...used].sort())
  })
})

describe("toRetryHeaders", () => {
  test.each(Object.keys(errorCodes) as ErrorCode[])("returns one header for %s", (code) => {
    const { status } = errorCodes[code]
    if (isRetryable(code)) {
      expect(toRetryHeaders(code, 7)).toEqual({ "retry-after": "7" })
      expect([429, 503]).toContain(status)
    } else {
      const isRetriedByDefault = status === 409 || status >= 500
      expect(toRetryHeaders(code, 7)).toEqual(
        isRetriedByDefault ? { "x-should-retry": "false" } : {},
      )
    }
  })
})

describe("errorsOf", () => {
  for (const name of routeNames) {
    const route: RouteDefinition = routes[name]
    test(`names each code of ${name} once, and only codes that exist`, () => {
      const codes = errorsOf(route)
      expect(new Set(codes).size).toBe(codes.length)
      for (const code of codes) expect(errorCodes[code]).toBeDefined()
    })
  }

  test("follows from the fields of the route", () => {
    expect(errorsOf(routes.getMe)).toEqual(
      expect.arrayContaining(["unauthenticated", "invalid_token", "missing_scope"]),
    )
    expect(errorsOf(routes.getVal)).not.toContain("unauthenticated")
    expect(errorsOf(routes.getHealth)).not.toContain("invalid_token")
    expect(errorsOf(routes.updateVal)).toEqual(
      expect.arrayContaining(["not_owner", "val_not_found", "version_conflict", "body_too_large"]),
    )
    expect(errorsOf(routes.createVal)).toEqual(
      expect.arrayContaining(["idempotency_in_flight", "idempotency_mismatch"]),
    )
  })
})
