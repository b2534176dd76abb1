import type { Answer } from "./answer.ts"

// Any page may call the API with a token it was given; cookies are never sent along, so there is nothing to steal.
const commonHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "etag, location, retry-after, x-request-id, x-should-retry",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
}

const preflightSeconds = 86_400

/** The response to an answer, with what every response carries. */
export function toResponse(answer: Answer, requestId: string): Response {
  const headers = { ...commonHeaders, "x-request-id": requestId, ...answer.headers }
  return new Response(answer.status === 204 ? null : (answer.body as BodyInit | null), { status: answer.status, headers })
}

/** The answer to a browser that asks whether a page may send a request. */
export function preflight(methods: readonly string[]): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...commonHeaders,
      allow: methods.join(", "),
      "access-control-allow-methods": methods.join(", "),
      "access-control-allow-headers": "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, prefer",
      "access-control-max-age": String(preflightSeconds),
      "x-request-id": Bun.randomUUIDv7(),
    },
  })
}
