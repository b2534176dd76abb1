import { errorCodes, statusTexts, toRetryHeaders } from "@hamlet/contract"
import type { AppError } from "../../domain/app-error.ts"
import { MergeRefused } from "../../domain/files/merges.ts"
import { SqlFailure } from "../../domain/owner-databases.ts"
import { RunFailure } from "../../domain/runs/execute-run.ts"
import { VersionConflict } from "../../domain/vals/vals.ts"
import { RangeNotSatisfiable } from "../request/range.ts"
import { type ApiResponse, json } from "./api-response.ts"

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
    ...(error instanceof MergeRefused ? error.details : {}),
    ...(error instanceof RunFailure ? { runId: error.runId, runError: error.runError } : {}),
  }
  return json(status, body, errorHeaders(error, status))
}

function errorHeaders(error: AppError, status: number): Record<string, string> {
  if (error instanceof RangeNotSatisfiable) return { "content-range": `bytes */${error.size}` }
  if (error instanceof VersionConflict) return { etag: `"${error.version}"` }
  if (status === 401) return { "www-authenticate": "Bearer" }
  return toRetryHeaders(error.code, error.retryAfterSeconds ?? retrySeconds)
}
