import { expect, test } from "bun:test"
import { type ErrorCode, errorCodes, isRetryable } from "@hamlet/contract"
import { toErrorPage } from "./error-page.ts"

test.each(Object.keys(errorCodes) as ErrorCode[])(
  "toErrorPage sends retry-after with %s only if it is retryable",
  (code) => {
    const page = { code, message: "Cannot respond", requestId: "id", hasRun: false }
    const response = toErrorPage({ ...page, retrySeconds: 3 }, undefined)
    expect(response.status).toBe(errorCodes[code].status)
    expect(response.headers.get("retry-after")).toBe(isRetryable(code) ? "3" : null)
  },
)
