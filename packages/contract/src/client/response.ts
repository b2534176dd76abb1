import type { ErrorCode } from "../errors.ts"
import { contract } from "./contract.ts"
import { ApiError, type Issue, type MergeConflicts } from "./errors.ts"
import type { PreparedRequest } from "./request.ts"
import { toRetryAfterMs } from "./retry.ts"
import type { Received } from "./send.ts"
import type { AnyRawResponse } from "./types.ts"

/** Parses a response: the one that the route promises, or an ApiError. */
export function toRawResponse(
  request: PreparedRequest,
  received: Received,
  nowMs: number,
): AnyRawResponse {
  const { status, headers, text } = received
  const isExpected304 = status === 304 && request.headers.has("if-none-match")
  if (status === 204 || isExpected304) return { status, headers, body: undefined }
  if (status < 200 || status > 299) throw toApiError(request, received, nowMs)
  if (request.response === "none") return { status, headers, body: undefined }
  if (request.response === "bytes") return { status, headers, body: received.response }
  if (request.response === "text") return { status, headers, body: text }
  const body = parseJson(text)
  // A portal or a proxy may respond 200 with a page of its own.
  if (body === undefined)
    throw new ApiError(
      `Cannot ${describe(request)}: the response is not JSON`,
      toDetails(received, {}, nowMs),
    )
  return { status, headers, body }
}

function toApiError(request: PreparedRequest, received: Received, nowMs: number): ApiError {
  const parsed = parseJson(received.text)
  const body =
    typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : {}
  // A browser reports a redirect that is not followed as status 0.
  const isRedirect = received.status === 0 || (received.status >= 300 && received.status <= 399)
  const fallback = `Cannot ${describe(request)}: ${isRedirect ? "the server redirects" : `the server responded with ${received.status}`}`
  const message = typeof body.message === "string" && body.message !== "" ? body.message : fallback
  return new ApiError(withoutToken(message, request), toDetails(received, body, nowMs))
}

function toDetails({ status, headers }: Received, body: Record<string, unknown>, nowMs: number) {
  return {
    status,
    code:
      contract.errorCodes.find((code): code is ErrorCode => code === body.code) ??
      ("unknown" as const),
    requestId:
      typeof body.requestId === "string"
        ? body.requestId
        : (headers.get("x-request-id") ?? undefined),
    issues: Array.isArray(body.issues) ? (body.issues as Issue[]) : [],
    runId: typeof body.runId === "string" ? body.runId : undefined,
    merge: Array.isArray(body.conflicts) ? (body as unknown as MergeConflicts) : undefined,
    retryAfterMs: toRetryAfterMs(headers, nowMs),
  }
}

function describe(request: PreparedRequest): string {
  return `${request.method} "${request.url}"`
}

/** A proxy between client and server may have echoed the request in the message. */
function withoutToken(message: string, request: PreparedRequest): string {
  const token = request.headers.get("authorization")?.replace(/^Bearer /, "")
  return token ? message.replaceAll(token, "[token]") : message
}

/** `undefined` if it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
