import { limits } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import type { ApiResponse } from "../response/api-response.ts"

/** Adds an ETag. It begins with the version, so that a client can send it back in `If-Match`. */
export function withEtag(response: ApiResponse, version: number): ApiResponse {
  const etag = `"${version}-${Bun.hash(response.body ?? "").toString(16)}"`
  return { ...response, headers: { ...response.headers, etag } }
}

/** The same response, or 304 if the client already has it. */
export function respondIfChanged(response: ApiResponse, ifNoneMatch: string | null): ApiResponse {
  const { etag } = response.headers
  if (ifNoneMatch === null || etag === undefined || response.status >= 300) return response
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""))
  if (!tags.includes(etag) && !tags.includes("*")) return response
  const { "content-type": _type, ...headers } = response.headers
  return { status: 304, headers, body: null }
}

/**
 * The version in `If-Match: "3"` or in an ETag of a val. `*` matches any version: undefined. The
 * domain compares it with the current version, inside the transaction that changes the val.
 */
export function parseIfMatch(header: string | null): number | undefined {
  if (header === null || header.trim() === "*") return undefined
  const version = Number(/^\s*(?:W\/)?"?(\d{1,15})(?:-[0-9a-z]+)?"?\s*$/.exec(header)?.[1])
  if (Number.isSafeInteger(version)) return version
  throw invalidHeader("if-match", 'must be one version number in quotes, like "3"')
}

/** The key under which the response to a POST is stored. */
export function parseIdempotencyKey(header: string | null): string | undefined {
  if (header === null) return undefined
  if (/^[\x20-\x7e]+$/.test(header) && header.length <= limits.idempotencyKeyCharsMax) return header
  throw invalidHeader(
    "idempotency-key",
    `must be 1 to ${limits.idempotencyKeyCharsMax} ASCII characters`,
  )
}

/** The error for an invalid value of a request header. */
export function invalidHeader(path: string, message: string): AppError {
  return new AppError("invalid_request", `Cannot accept header ${path}: it ${message}`, {
    issues: [{ path, message }],
  })
}
