import { AppError } from "../../domain/app-error.ts"
import type { ApiResponse } from "../response/api-response.ts"

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
  if (!isKnown) return { ...response, headers: stamped }
  const { "content-type": _type, ...kept } = stamped
  return { status: 304, headers: kept, body: null }
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
