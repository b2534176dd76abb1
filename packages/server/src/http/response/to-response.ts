import { limits, sessionHeader } from "@hamlet/contract"
import type { ApiResponse } from "./api-response.ts"

const commonHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

// Pages of any origin may call the API with a token. They cannot use a session: without
// `access-control-allow-credentials` browsers send no cookies, and the session header is not allowed.
const crossOriginHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "accept-ranges, content-range, etag, link, location, retry-after, x-request-id, x-should-retry",
}

const preflightSeconds = 86_400

/** Request headers that pages may always send. */
const knownHeaders =
  "authorization, content-type, idempotency-key, if-match, if-none-match, if-range, last-event-id, prefer, range"

/** Further header names in one preflight are ignored: no client sends that many. */
const requestedHeadersMax = 100

/** Adds the headers of every response. */
export function toResponse(response: ApiResponse, requestId: string, request: Request): Response {
  const headers: Record<string, string> = {
    ...commonHeaders,
    "x-request-id": requestId,
    ...response.headers,
  }
  if (request.headers.has("origin")) Object.assign(headers, crossOriginHeaders)
  const { status, stream } = response
  const body = stream ?? (status === 204 ? null : (response.body as BodyInit | null))
  return new Response(body, { status, headers })
}

/** The response to a CORS preflight and to any other OPTIONS request. */
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
      "access-control-allow-methods": toAllowedMethods(
        methods,
        request.headers.get("access-control-request-method"),
      ),
      "access-control-allow-headers": toAllowedHeaders(
        request.headers.get("access-control-request-headers"),
      ),
      "access-control-max-age": String(preflightSeconds),
      vary: "access-control-request-headers, access-control-request-method",
      "x-request-id": requestId,
    },
  })
}

/**
 * Allows the requested method too, though the path may not support it: the page then gets the
 * response that says so, 405 or 404, instead of an error without a reason.
 */
function toAllowedMethods(methods: readonly string[], requested: string | null): string {
  const method = requested ?? ""
  const isMethod = /^[A-Za-z-]+$/.test(method) && method.length <= limits.requestMethodCharsMax
  return [...new Set([...methods, ...(isMethod ? [method] : [])])].join(", ")
}

/**
 * Allows the requested headers except the session header: clients send headers of their own, such
 * as `x-stainless-lang`. `*` would not include `authorization`.
 */
function toAllowedHeaders(requested: string | null): string {
  const names = (requested ?? "").toLowerCase().split(",", requestedHeadersMax)
  const allowed = names
    .map((name) => name.trim())
    .filter((name) => /^[a-z0-9_.-]+$/.test(name) && name !== sessionHeader.toLowerCase())
  return [...new Set([...knownHeaders.split(", "), ...allowed])].join(", ")
}
