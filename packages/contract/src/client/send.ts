import type { Clock } from "./clock.ts"
import { ApiError, ConnectionError } from "./errors.ts"
import { clientLimits } from "./limits.ts"
import { readText } from "./read-text.ts"
import type { PreparedRequest } from "./request.ts"
import { canRetry, type Failure, toRetryMs } from "./retry.ts"
import type { AnyCallOptions, Fetch } from "./types.ts"

/** Dependencies of sending. */
export interface SendDeps {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: () => number
  readonly retriesMax: number
  readonly timeoutMs: number
  readonly responseBytesMax: number
}

/** A response with its whole body. */
export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Set instead of `text` if the caller reads the body. */
  readonly response?: Response
}

/** Sends a request, and retries where that can help. */
export async function send(
  deps: SendDeps,
  request: PreparedRequest,
  options: AnyCallOptions,
): Promise<Received> {
  const { signal } = options
  for (let attempt = 0; ; attempt++) {
    const result = await receive(deps, request, options)
    const failure: Failure = result instanceof ConnectionError ? undefined : result
    const isFailed = !failure || failure.status >= 400
    // A stream can be read only once.
    const isSpent = request.body instanceof ReadableStream
    if (
      isFailed &&
      !isSpent &&
      attempt < deps.retriesMax &&
      canRetry(failure, request.isRepeatable)
    ) {
      await deps.clock.sleep(toRetryMs(failure, attempt, deps.clock.now(), deps.random()), signal)
      continue
    }
    if (result instanceof ConnectionError) throw result
    return result
  }
}

/** Makes one attempt. Returns a connection failure; throws if the caller aborted. */
async function receive(
  deps: SendDeps,
  request: PreparedRequest,
  options: AnyCallOptions,
): Promise<Received | ConnectionError> {
  const { signal, timeoutMs = deps.timeoutMs } = options
  signal?.throwIfAborted()
  const attempt = new AbortController()
  const stop = () => attempt.abort()
  const timer = setTimeout(stop, Math.min(timeoutMs, clientLimits.timeoutMsMax))
  signal?.addEventListener("abort", stop, { once: true })
  let isStreamed = false
  try {
    const response = await deps.fetch(request.url, toInit(request, attempt.signal))
    isStreamed = request.response === "bytes" && response.ok
    if (isStreamed)
      return { status: response.status, headers: response.headers, text: "", response }
    const about = `${request.method} "${request.url}"`
    const text = await readText(response, deps.responseBytesMax, about)
    return { status: response.status, headers: response.headers, text }
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof ApiError) throw cause
    const reason = attempt.signal.aborted
      ? `no response within ${timeoutMs} ms`
      : explainFailure(cause)
    return new ConnectionError(`Cannot ${request.method} "${request.url}": ${reason}`, { cause })
  } finally {
    clearTimeout(timer)
    // While the caller reads the body, their signal still aborts it.
    if (!isStreamed) signal?.removeEventListener("abort", stop)
  }
}

/** A certificate that is not accepted has its code in the error, or in the cause of it. */
function explainFailure(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  const found = String(cause?.code ?? code)
  return /CERT|VERIFY|^ERR_TLS/.test(found)
    ? `the certificate of the server was not accepted (${found})`
    : "the connection failed"
}

/** Builds the options of `fetch`. */
export function toInit(request: PreparedRequest, signal: AbortSignal): RequestInit {
  const { method, headers, body } = request
  // The API never redirects and uses no cookies: following a redirect could leak the token, or turn
  // a POST into a GET.
  const content =
    body === undefined
      ? {}
      : { body: body as BodyInit, ...(body instanceof ReadableStream ? { duplex: "half" } : {}) }
  return { method, headers, signal, redirect: "manual", credentials: "omit", ...content }
}
