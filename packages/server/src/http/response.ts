import type { Answer } from "./answer.ts"

const commonHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

// Any page may call the API with a token it was given. Without `access-control-allow-credentials` no browser sends cookies along, and the header
// that makes a session count is not among those that a page of another origin may send.
const crossOriginHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "accept-ranges, content-range, etag, link, location, retry-after, x-request-id, x-should-retry",
}

const preflightSeconds = 86_400

/** The response to an answer, with what every response carries. */
export function toResponse(answer: Answer, requestId: string, request: Request): Response {
  const headers: Record<string, string> = { ...commonHeaders, "x-request-id": requestId, ...answer.headers }
  if (request.headers.has("origin")) Object.assign(headers, crossOriginHeaders)
  const body = answer.stream ?? (answer.status === 204 ? null : (answer.body as BodyInit | null))
  return new Response(body, { status: answer.status, headers })
}

/** The answer to a browser that asks whether a page may send a request. */
export function preflight(methods: readonly string[], requestId: string): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...commonHeaders,
      ...crossOriginHeaders,
      allow: methods.join(", "),
      "access-control-allow-methods": methods.join(", "),
      "access-control-allow-headers":
        "authorization, content-type, idempotency-key, if-match, if-none-match, if-range, last-event-id, prefer, range",
      "access-control-max-age": String(preflightSeconds),
      "x-request-id": requestId,
    },
  })
}
