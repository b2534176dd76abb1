import { limits } from "@hamlet/contract"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import { assertDepth, depthHeader } from "../egress.ts"
import type { LiveRuns } from "../runs/live-runs.ts"
import { getVal, type Val, type ValStore } from "../vals/vals.ts"
import { type BufferedResponse, bufferResponse } from "./buffered-response.ts"

/** Whoever asks for a request to be sent. */
export interface ValRequestCaller {
  readonly caller: Caller
  /** Of their connection, which the val is told. */
  address(): string
  /** Aborted when they have gone. */
  readonly signal: AbortSignal
}

/** What sending requests to vals needs. */
export interface ValRequestDeps {
  readonly vals: ValStore
  readonly liveRuns: Pick<LiveRuns, "find">
  readonly links: { endpoint(val: Pick<Val, "id" | "ownerName" | "name">): string }
  /**
   * Sends a request to the address of a val, on the way that visitors take, except that it is known
   * who comes.
   */
  fetchVal(
    request: Request,
    visitor: Pick<ValRequestCaller, "caller" | "address">,
  ): Promise<Response>
}

/** A request to be sent to a val. */
export interface ValRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
}

/**
 * Sends a request to a val that the caller may see, and reads what comes back. What the val does
 * wrong is an answer too.
 */
export async function sendValRequest(
  deps: ValRequestDeps,
  sender: ValRequestCaller,
  valId: string,
  input: ValRequest,
): Promise<BufferedResponse> {
  const { caller } = sender
  const val = await getVal(deps, caller, valId)
  assertHttpVal(val)
  assertDepth(caller.depth ?? 0)
  const request = toRequest(new URL(deps.links.endpoint(val)), input, sender)
  const startedMs = performance.now()
  const response = await deps.fetchVal(request, sender)
  const answer = await bufferResponse(response, limits.responseBytesMax, limits.responseMsMax)
  const durationMs = performance.now() - startedMs
  // Whoever gets the answer asks for the logs next, so that the run has to be there. When it cannot
  // be written down, that is told elsewhere.
  if (answer.runId !== null)
    await deps.liveRuns
      .find(answer.runId)
      ?.settled()
      .catch(() => {})
  return { ...answer, durationMs }
}

/** Refuses vals that have no web address. */
export function assertHttpVal(val: Val): void {
  if (val.type !== "http")
    throw new AppError(
      "not_http",
      `Cannot send requests to val "${val.name}": its type is ${val.type}, not http`,
    )
}

/**
 * How a request is sent is not for its headers to say; what else is between two neighbours the
 * gateway leaves out, as for everybody.
 */
const notSent: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "upgrade"])

function toRequest(
  endpoint: URL,
  input: ValRequest,
  { caller, signal }: ValRequestCaller,
): Request {
  const method = input.method.toUpperCase()
  const headers = new Headers()
  for (const [name, value] of input.headers)
    if (!notSent.has(name.toLowerCase())) headers.append(name, value)
  headers.set("host", endpoint.host)
  headers.set(depthHeader, String(caller.depth ?? 0))
  const isBodiless = method === "GET" || method === "HEAD"
  if (!isBodiless) headers.set("content-length", String(input.body.length))
  const body =
    isBodiless || input.body.length === 0 ? null : (input.body as Uint8Array<ArrayBuffer>)
  const request = new Request(`${endpoint.origin}${input.path}`, { method, headers, body, signal })
  // Bun makes a GET of a method that it does not know, where it refuses such a request from a
  // visitor.
  if (request.method !== method)
    throw new AppError(
      "invalid_request",
      `Cannot send a request with method "${method}": no visitor could`,
    )
  return request
}
