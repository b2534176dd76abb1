import { limits } from "@hamlet/contract"
import { isCredentialHeader } from "../../../shared/headers/credential-headers.ts"
import { isReservedHeader } from "../../../shared/headers/reserved-headers.ts"
import { AppError } from "../../app-error.ts"
import type { HeaderList } from "../runner.ts"
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
  readonly args?: readonly unknown[] | undefined
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

/** Whether the changes concern the request of an http val. */
export function changesRequest({ method, path, headers, body }: ReplayChanges): boolean {
  return [method, path, headers, body].some((part) => part !== undefined)
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
  if (url.length > recorded.urlCharsMax) throw tooLarge("its address", recorded.urlCharsMax)
  const given = changes.headers?.map(([name, value]) => [name.toLowerCase(), value] as const)
  const headers = given?.filter(([name]) => !isSetHere(name)) ?? input.headers
  const kept = headers.filter(([name]) => !isCredentialHeader(name))
  const headerBytes = kept.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (headerBytes > recorded.headerBytesMax) throw tooLarge("its headers", recorded.headerBytesMax)
  return {
    request: { method, url },
    input: { headers: kept, body: toBody(method, input.body, changes.body) },
    credentials: headers.filter(([name]) => isCredentialHeader(name)),
  }
}

function toBody(method: string, before: string, body: Uint8Array | undefined): string {
  const isBodiless = method === "GET" || method === "HEAD"
  if (isBodiless && body !== undefined && body.length > 0)
    throw new AppError("invalid_request", `Cannot replay the run: ${method} has no body`)
  if (isBodiless) return ""
  if (body === undefined) return before
  if (body.length > recorded.bodyBytesMax) throw tooLarge("its body", recorded.bodyBytesMax)
  return Buffer.from(body).toString("base64")
}

/** Whether the server sets the header itself. */
function isSetHere(name: string): boolean {
  return isReservedHeader(name) || name === "content-length"
}

function tooLarge(what: string, max: number): AppError {
  return new AppError("invalid_request", `Cannot replay the run: ${what} would exceed ${max} bytes`)
}
