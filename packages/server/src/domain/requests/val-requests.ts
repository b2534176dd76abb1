import { limits } from "@hamlet/contract"
import { depthHeader } from "@hamlet/sandbox"
import type { Caller } from "../access/caller.ts"
import { AppError } from "../app-error.ts"
import { assertDepth } from "../egress.ts"
import { type EndpointLinks, toEndpoint } from "../files/addresses.ts"
import type { StartedPlace } from "../files/started-files.ts"
import type { Calls } from "../runs/calls.ts"
import type { LiveRuns } from "../runs/live-runs.ts"
import type { Val } from "../vals/vals.ts"
import { type BufferedResponse, bufferResponse } from "./buffered-response.ts"

/** The caller that sends a request to a val. */
export interface ValRequestCaller {
  readonly caller: Caller
  /** The client's IP address, which is forwarded to the val. */
  address(): string
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal
}

/** Sends a request to a val through the gateway, authenticated as the caller. */
export type FetchVal = (
  request: Request,
  sender: Pick<ValRequestCaller, "caller" | "address">,
) => Promise<Response>

/** A request to be sent to a val. */
export interface ValRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
}

/** Requests to vals through the API. */
export type ValRequests = ReturnType<typeof createValRequests>

/** Creates the rules of requests to vals. */
export function createValRequests(
  calls: Pick<Calls, "findVal">,
  liveRuns: Pick<LiveRuns, "find">,
  links: EndpointLinks,
  fetchVal: FetchVal,
) {
  return {
    /**
     * Sends a request to a val that the caller may see, or to a file of it. A failure of the val is
     * a response too.
     */
    async send(
      sender: ValRequestCaller,
      valId: string,
      place: StartedPlace,
      input: ValRequest,
    ): Promise<BufferedResponse> {
      const { caller } = sender
      const val = await calls.findVal(caller, valId, place)
      assertHttpVal(val)
      assertDepth(caller.depth ?? 0)
      const request = toRequest(new URL(toEndpoint(links, val)), input, sender)
      const startedMs = performance.now()
      const response = await fetchVal(request, sender)
      const buffered = await bufferResponse(response, limits.responseBytesMax, limits.responseMsMax)
      const durationMs = performance.now() - startedMs
      // Clients read the logs next, so the run must be on disk. The recorder reports write errors.
      if (buffered.runId !== null)
        await liveRuns
          .find(buffered.runId)
          ?.settled()
          .catch(() => {})
      return { ...buffered, durationMs }
    },
  }
}

/** Throws unless the val, or the file that is meant, is of type http. */
export function assertHttpVal({ type, name, file }: Val): void {
  if (type === "http") return
  const where = file.isEntry ? `val "${name}"` : `"${file.path}" of val "${name}"`
  throw new AppError("not_http", `Cannot send requests to ${where}: its type is ${type}, not http`)
}

/** Framing headers are set here. The gateway removes the other hop-by-hop headers. */
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
  // Bun replaces an unknown method by GET; its server would refuse such a request.
  if (request.method !== method)
    throw new AppError(
      "invalid_request",
      `Cannot send a request with method "${method}": the server does not support it`,
    )
  return request
}
