import { limits } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import type { ApiResponse } from "../response/api-response.ts"

/**
 * Marks an answer with a tag of its content. A val's tag begins with its version, so that it can be
 * sent back in `If-Match`.
 */
export function withEtag(answer: ApiResponse, version: number): ApiResponse {
  const etag = `"${version}-${Bun.hash(answer.body ?? "").toString(36)}"`
  return { ...answer, headers: { ...answer.headers, etag } }
}

/** The same answer, or 304 where the client has it already. */
export function respondIfChanged(answer: ApiResponse, ifNoneMatch: string | null): ApiResponse {
  const { etag } = answer.headers
  if (ifNoneMatch === null || etag === undefined || answer.status >= 300) return answer
  const known = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""))
  if (!known.includes(etag) && !known.includes("*")) return answer
  const { "content-type": _type, ...headers } = answer.headers
  return { status: 304, headers, body: null }
}

/**
 * The version that the client has seen: `If-Match: "3"`, or an ETag that began with it. `*` asks
 * for nothing.
 */
export function parseIfMatch(header: string | null): number | undefined {
  if (header === null || header.trim() === "*") return undefined
  const version = Number(/^\s*(?:W\/)?"?(\d{1,15})(?:-[0-9a-z]+)?"?\s*$/.exec(header)?.[1])
  if (Number.isSafeInteger(version)) return version
  throw invalidHeader("if-match", 'must be one version number in quotes, like "3"')
}

/** The key under which the answer to a POST is kept. */
export function parseIdempotencyKey(header: string | null): string | undefined {
  if (header === null) return undefined
  if (/^[\x20-\x7e]+$/.test(header) && header.length <= limits.idempotencyKeyCharsMax) return header
  throw invalidHeader(
    "idempotency-key",
    `must be 1 to ${limits.idempotencyKeyCharsMax} ASCII characters`,
  )
}

function invalidHeader(path: string, message: string): AppError {
  return new AppError("invalid_request", `Cannot accept header ${path}: it ${message}`, {
    issues: [{ path, message }],
  })
}
