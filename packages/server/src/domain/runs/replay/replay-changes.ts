import { limits } from "@hamlet/contract"
import { isCredentialHeader } from "@hamlet/contract/credential-headers"
import type { HeaderList } from "@hamlet/http1"
import type { CallArgs } from "@hamlet/sandbox"
import { isReservedHeader } from "../../../shared/headers/reserved-headers.ts"
import { AppError } from "../../app-error.ts"
import type { RequestInput, RunRequest } from "../runs.ts"

/** What a replay does differently. */
export interface ReplayChanges {
  readonly method?: string | undefined
  /** Path and query. */
  readonly path?: string | undefined
  /** All headers. */
  readonly headers?: HeaderList | undefined
  readonly body?: Uint8Array | undefined
  /** The arguments of a call. */
  readonly args?: CallArgs | undefined
  readonly version?: number | undefined
}

/** The request of a replay: what is recorded, and the credentials, which are sent only. */
export interface ReplayRequest {
  readonly request: Pick<RunRequest, "method" | "url">
  readonly input: RequestInput
  readonly credentials: HeaderList
}

/** What can be recorded of a request, as for a request to the val's address. */
const recorded = {
  urlCharsMax: 2_048,
  headerBytesMax: 8_192,
  bodyBytesMax: limits.runInputBytesMax,
}

const requestParts = ["method", "path", "headers", "body"] as const

/** The first part of a request that the changes replace. */
export function findRequestPart(changes: ReplayChanges): (typeof requestParts)[number] | undefined {
  return requestParts.find((part) => changes[part] !== undefined)
}

/**
 * What stands for the input of a request that was not stored completely, if the changes replace all
 * of it; undefined otherwise.
 */
export function findReplacedInput(
  { method, url }: Pick<RunRequest, "method" | "url">,
  changes: ReplayChanges,
): RequestInput | undefined {
  // The record of a longer address ends there.
  const hasPath = changes.path !== undefined || url.length < recorded.urlCharsMax
  const hasBody = changes.body !== undefined || isBodiless(changes.method?.toUpperCase() ?? method)
  return hasPath && changes.headers !== undefined && hasBody ? { headers: [], body: "" } : undefined
}

/** Applies the changes to the request of a run. */
export function changeRequest(
  request: Pick<RunRequest, "method" | "url">,
  input: RequestInput,
  changes: ReplayChanges,
): ReplayRequest {
  const method = changes.method?.toUpperCase() ?? request.method
  const url =
    changes.path === undefined ? request.url : `${new URL(request.url).origin}${changes.path}`
  if (url.length > recorded.urlCharsMax) throw tooLarge("path", recorded.urlCharsMax)
  const given = changes.headers?.map(([name, value]) => [name.toLowerCase(), value] as const)
  const headers = given?.filter(([name]) => !isSetHere(name)) ?? input.headers
  const kept = headers.filter(([name]) => !isCredentialHeader(name))
  const headerBytes = kept.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (headerBytes > recorded.headerBytesMax) throw tooLarge("headers", recorded.headerBytesMax)
  return {
    request: { method, url },
    input: { headers: kept, body: toBody(method, input.body, changes.body) },
    credentials: headers.filter(([name]) => isCredentialHeader(name)),
  }
}

function toBody(method: string, before: string, body: Uint8Array | undefined): string {
  if (isBodiless(method)) {
    if (body === undefined || body.length === 0) return ""
    throw unfitChange("body", `must be empty: ${method} has no body`)
  }
  if (body === undefined) return before
  if (body.length > recorded.bodyBytesMax) throw tooLarge("body", recorded.bodyBytesMax)
  return Buffer.from(body).toString("base64")
}

function isBodiless(method: string): boolean {
  return method === "GET" || method === "HEAD"
}

/** Whether the server sets the header itself. */
function isSetHere(name: string): boolean {
  return isReservedHeader(name) || name === "content-length"
}

function tooLarge(path: keyof ReplayChanges, bytesMax: number): AppError {
  return unfitChange(path, `must be at most ${bytesMax} bytes, to be stored with the run`)
}

/** A change that the run cannot be replayed with. */
export function unfitChange(path: keyof ReplayChanges, message: string): AppError {
  return new AppError("invalid_request", "Cannot replay the run with these changes", {
    issues: [{ path, message }],
  })
}
