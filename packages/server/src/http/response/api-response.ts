import { errorCodes, statusTexts, toRetryHeaders } from "@hamlet/contract"
import type { AppError } from "../../domain/app-error.ts"
import { RateLimited } from "../../domain/limits/rate-limit.ts"
import { SqlFailure } from "../../domain/owner-databases.ts"
import { RunFailure } from "../../domain/runs/execute-run.ts"
import { SessionEnded } from "../auth/session-cookie.ts"
import { RangeNotSatisfiable } from "../request/range.ts"

/** The result of a handler. Unlike a `Response`, it can be stored and sent again. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
  /** Instead of a body. A response with a stream can be sent only once. */
  readonly stream?: ReadableStream<Uint8Array>
}

const jsonType = "application/json; charset=utf-8"

/** A JSON response. */
export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse {
  return { status, headers: { "content-type": jsonType, ...headers }, body: JSON.stringify(body) }
}

/** A JSON response whose body is already serialized. */
export function jsonText(status: number, body: string | Uint8Array): ApiResponse {
  return { status, headers: { "content-type": jsonType }, body }
}

/** A response without a body. */
export function noContent(status: 201 | 204 = 204): ApiResponse {
  return { status, headers: {}, body: null }
}

/** A response with another content type. */
export function content(
  contentType: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse {
  return { status: 200, headers: { "content-type": contentType, ...headers }, body }
}

/** The value of `retry-after` for errors that do not know a better one. */
const retrySeconds = 1

/** The only place that turns an error code into a status. */
export function toErrorResponse(error: AppError, requestId: string): ApiResponse {
  const { status } = errorCodes[error.code]
  const body = {
    statusCode: status,
    error: statusTexts[status],
    code: error.code,
    message: error.message,
    requestId,
    ...(error.issues ? { issues: error.issues } : {}),
    ...(error instanceof SqlFailure && error.sqliteCode !== undefined
      ? { rawCode: error.sqliteCode }
      : {}),
    ...(error instanceof RunFailure ? { runId: error.runId, runError: error.runError } : {}),
  }
  return json(status, body, errorHeaders(error, status))
}

function errorHeaders(error: AppError, status: number): Record<string, string> {
  if (error instanceof RangeNotSatisfiable) return { "content-range": `bytes */${error.size}` }
  if (error instanceof SessionEnded)
    return { "www-authenticate": "Bearer", "set-cookie": error.setCookie }
  if (status === 401) return { "www-authenticate": "Bearer" }
  const afterSeconds = error instanceof RateLimited ? error.retryAfterSeconds : retrySeconds
  return toRetryHeaders(error.code, afterSeconds)
}
