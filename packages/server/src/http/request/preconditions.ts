import { limits } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import type { ApiResponse } from "../response/api-response.ts"

/** Adds an ETag. It begins with the version, so that a client can send it back in `If-Match`. */
export function withEtag(response: ApiResponse, version: number): ApiResponse {
  const etag = `"${version}-${Bun.hash(response.body ?? "").toString(16)}"`
  return { ...response, headers: { ...response.headers, etag } }
}

/** Returns the response, or 304 if the client already has it. */
export function respondIfChanged(response: ApiResponse, ifNoneMatch: string | null): ApiResponse {
  const { etag } = response.headers
  if (ifNoneMatch === null || etag === undefined || response.status >= 300) return response
  return hasTag(ifNoneMatch, etag) ? toNotModified(response.headers) : response
}

function toNotModified({ "content-type": _type, ...headers }: ApiResponse["headers"]): ApiResponse {
  return { status: 304, headers, body: null }
}

/**
 * The response, or 304 if the client already has it. Throws if it is not the one that the client
 * expects. Times are in whole seconds, as in `Last-Modified`; a header that is not valid is ignored.
 */
export function respondToConditions(
  response: ApiResponse,
  { headers }: Request,
  etag: string,
  modifiedAt: number,
): ApiResponse {
  const [match, noneMatch] = [headers.get("if-match"), headers.get("if-none-match")]
  const modified = Math.floor(modifiedAt / 1000) * 1000
  const isMatching =
    match === null
      ? !(modified > parseTime(headers.get("if-unmodified-since")))
      : hasTag(match, etag)
  if (!isMatching)
    throw new AppError(
      "precondition_failed",
      `Cannot read the content: it is ${etag} of ${toHttpTime(modified)}, not the one that is expected`,
    )
  const isKnown =
    noneMatch === null
      ? modified <= parseTime(headers.get("if-modified-since"))
      : hasTag(noneMatch, etag)
  const stamped: Record<string, string> = {
    ...response.headers,
    etag,
    "last-modified": toHttpTime(modified),
  }
  return isKnown ? toNotModified(stamped) : { ...response, headers: stamped }
}

function hasTag(header: string, etag: string): boolean {
  const tags = header.split(",").map((tag) => tag.trim().replace(/^W\//, ""))
  return tags.includes(etag) || tags.includes("*")
}

/** NaN, with which every comparison is false, for no time. */
function parseTime(header: string | null): number {
  return header === null ? Number.NaN : Date.parse(header)
}

function toHttpTime(ms: number): string {
  return new Date(ms).toUTCString()
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
