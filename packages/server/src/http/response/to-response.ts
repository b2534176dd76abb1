import { sessionHeader } from "@hamlet/contract"
import type { ApiResponse } from "./api-response.ts"

const commonHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

// Any page may call the API with a token it was given. Without `access-control-allow-credentials`
// no browser sends cookies along, and the header that makes a session count is the one header that
// a page of another origin may not send.
const crossOriginHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "accept-ranges, content-range, etag, link, location, retry-after, x-request-id, x-should-retry",
}

const preflightSeconds = 86_400

/** What a page may send whether or not it asks. */
const knownHeaders =
  "authorization, content-type, idempotency-key, if-match, if-none-match, if-range, last-event-id, prefer, range"

/** More header names than these in one preflight are not answered for: no client sends as many. */
const askedHeadersMax = 100

/** The response to an answer, with what every response carries. */
export function toResponse(answer: ApiResponse, requestId: string, request: Request): Response {
  const headers: Record<string, string> = {
    ...commonHeaders,
    "x-request-id": requestId,
    ...answer.headers,
  }
  if (request.headers.has("origin")) Object.assign(headers, crossOriginHeaders)
  const body = answer.stream ?? (answer.status === 204 ? null : (answer.body as BodyInit | null))
  return new Response(body, { status: answer.status, headers })
}

/** The answer to a browser that asks whether a page may send a request. */
export function preflight(
  methods: readonly string[],
  requestId: string,
  request: Request,
): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...commonHeaders,
      ...crossOriginHeaders,
      allow: methods.join(", "),
      "access-control-allow-methods": methods.join(", "),
      "access-control-allow-headers": toAllowedHeaders(
        request.headers.get("access-control-request-headers"),
      ),
      "access-control-max-age": String(preflightSeconds),
      vary: "access-control-request-headers",
      "x-request-id": requestId,
    },
  })
}

/**
 * Clients send headers of their own, as `x-stainless-lang`: whatever is asked for is allowed. `*`
 * would not stand for `authorization`.
 */
function toAllowedHeaders(asked: string | null): string {
  const names = (asked ?? "").toLowerCase().split(",", askedHeadersMax)
  const allowed = names
    .map((name) => name.trim())
    .filter((name) => /^[a-z0-9_.-]+$/.test(name) && name !== sessionHeader.toLowerCase())
  return [...new Set([...knownHeaders.split(", "), ...allowed])].join(", ")
}
