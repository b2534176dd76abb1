import { describe, expect, test } from "bun:test"
import { type ErrorCode, errorBody, errorCodes, toRetryHeaders } from "@hamlet/contract"
import { RateLimited } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import { toErrorResponse } from "./error-response.ts"

const codes = Object.keys(errorCodes) as ErrorCode[]
const bodyOf = (response: { body: unknown }) => JSON.parse(String(response.body)) as unknown

describe("toErrorResponse", () => {
  test.each(codes)("sends %s with its status, in the error format", (code) => {
    const response = toErrorResponse(new AppError(code, "Cannot do it"), "the-request")

    expect(response.status).toBe(errorCodes[code].status)
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8")
    expect(errorBody.safeParse(bodyOf(response)).error).toBeUndefined()
    expect(bodyOf(response)).toMatchObject({
      statusCode: response.status,
      code,
      message: "Cannot do it",
      requestId: "the-request",
    })
    expect(bodyOf(response)).not.toHaveProperty("issues")
  })

  test.each(codes)("sends the retry headers of %s", (code) => {
    const { status } = errorCodes[code]
    const { headers } = toErrorResponse(new AppError(code, "Cannot do it"), "id")
    expect(headers).toMatchObject(toRetryHeaders(code, 1))
    expect(headers["retry-after"] !== undefined && headers["x-should-retry"] !== undefined).toBe(
      false,
    )
    expect(headers["www-authenticate"]).toBe(status === 401 ? "Bearer" : undefined)
  })

  test("sends retry-after with a fixed delay, or with the delay of the rate limit", () => {
    for (const code of ["database_unavailable", "sandbox_unavailable"] as const)
      expect(toErrorResponse(new AppError(code, "away"), "id").headers).toMatchObject({
        "retry-after": "1",
      })
    expect(toErrorResponse(new RateLimited(17), "id")).toMatchObject({
      status: 429,
      headers: { "retry-after": "17" },
    })
  })

  test("sends the issues but not the cause", () => {
    const issues = [{ path: "name", message: "must be shorter" }]
    const error = new AppError("invalid_request", "Cannot accept it", {
      issues,
      cause: new Error("internals"),
    })

    const response = toErrorResponse(error, "id")

    expect(bodyOf(response)).toMatchObject({ issues })
    expect(String(response.body)).not.toContain("internals")
    expect(String(response.body)).not.toContain("stack")
  })
})
