import { type HeaderList, type PartReader, type ReceivedResponse, toStream } from "@hamlet/http1"
import { Refusal } from "../policy/refusal.ts"

/** A request to the API of this server. */
export interface ApiRequest {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  /** Null for none; bytes, if all of it has arrived; otherwise its parts. */
  readonly body: Uint8Array | null | PartReader
  readonly signal: AbortSignal
  onError(error: unknown): void
}

const limits = {
  /** A response body up to this size is read at once, which is cheaper than a stream. */
  wholeBytesMax: 65_536,
}

/** Calls the API in this process. Throws a Refusal when there is no response. */
export async function callApi(
  call: ApiRequest,
  fetchApi: (request: Request) => Promise<Response>,
): Promise<ReceivedResponse> {
  const { method, signal } = call
  const request = toRequest(call)
  if (!request)
    throw new Refusal(400, `it is not a valid request to the API, with the method ${method}`)
  try {
    const response = await fetchApi(request)
    if (!signal.aborted) return await toReceivedResponse(call, response)
    response.body?.cancel().catch(() => {})
  } catch (error) {
    if (!signal.aborted) call.onError(error)
  }
  throw brokenOff
}

const brokenOff = new Refusal(502, "the server has broken off its response")

/** Undefined for an invalid request. Bun turns a method that it does not know into GET. */
function toRequest({ method, url, headers, body, signal }: ApiRequest): Request | undefined {
  const isWhole = body instanceof Uint8Array
  const sent = body === null || isWhole ? body : toStream(body)
  // With a length, the API need not read a stream, which is slow for a small body.
  const all = isWhole ? [...headers, ["content-length", String(body.length)]] : headers
  try {
    const request = new Request(url, {
      method,
      headers: all as [string, string][],
      signal,
      ...(sent !== null && { body: sent as BodyInit, duplex: "half" }),
    })
    return request.method === method ? request : undefined
  } catch {
    return undefined
  }
}

async function toReceivedResponse(
  { method, signal, onError }: ApiRequest,
  response: Response,
): Promise<ReceivedResponse> {
  const { status } = response
  const headers: HeaderList = [...response.headers]
  const length = toLength(response.headers.get("content-length"))
  const isBodiless = method === "HEAD" || status === 204 || status === 304
  if (isBodiless)
    return { head: { status, headers, framing: length ?? 0, isKept: true }, body: null }
  const isSmall = length === undefined ? isJson(response.headers) : length <= limits.wholeBytesMax
  if (isSmall || response.body === null) {
    const body = await response.bytes()
    return { head: { status, headers, framing: body.length, isKept: true }, body }
  }
  return {
    head: { status, headers, framing: length ?? "chunked", isKept: true },
    body: toPartReader(response.body, length, signal, onError),
  }
}

function toPartReader(
  body: ReadableStream<Uint8Array>,
  length: number | undefined,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): PartReader {
  const reader = body.getReader()
  signal.addEventListener("abort", () => void reader.cancel().catch(() => {}), { once: true })
  let bytes = 0
  const next = async (): Promise<Uint8Array | undefined> => {
    const { done, value } = await reader.read()
    bytes += value?.length ?? 0
    if (length !== undefined && (done ? bytes !== length : bytes > length))
      throw new Error("the length of the response body is not that of its content-length header")
    if (done) return undefined
    return value.length > 0 ? value : next()
  }
  return {
    async next() {
      try {
        return await next()
      } catch (error) {
        if (!signal.aborted) onError(error)
        throw brokenOff
      }
    },
  }
}

function toLength(value: string | null): number | undefined {
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

/** Responses in JSON are in memory as a whole already. */
function isJson(headers: Headers): boolean {
  return headers.get("content-type")?.startsWith("application/json") === true
}
