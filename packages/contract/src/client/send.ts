import type { Clock } from "./clock.ts"
import { ConnectionError } from "./errors.ts"
import { clientLimits } from "./limits.ts"
import type { PreparedRequest } from "./request.ts"
import { canRetry, type Failure, toRetryMs } from "./retry.ts"
import type { AnyCallOptions, Fetch } from "./types.ts"

/** What sending needs. */
export interface SendDeps {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: () => number
  readonly retriesMax: number
  readonly timeoutMs: number
}

/** An answer, good or bad, with all of its body. */
export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Instead of a text, where the body is the caller's to read. */
  readonly response?: Response
}

/**
 * Sends a request until there is an answer that another attempt would not better, or until there
 * were enough attempts.
 */
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
    // A stream can be read once.
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

/** One attempt. A connection that fails is a value; what the caller aborted is thrown. */
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
  let isHandedOn = false
  try {
    const response = await deps.fetch(request.url, toInit(request, attempt.signal))
    isHandedOn = request.isUnread && response.ok
    if (isHandedOn)
      return { status: response.status, headers: response.headers, text: "", response }
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (cause) {
    signal?.throwIfAborted()
    const reason = attempt.signal.aborted
      ? `no answer within ${timeoutMs} ms`
      : "the connection failed"
    return new ConnectionError(`Cannot ${request.method} "${request.url}": ${reason}`, { cause })
  } finally {
    clearTimeout(timer)
    // What the caller reads of it still ends with their signal.
    if (!isHandedOn) signal?.removeEventListener("abort", stop)
  }
}

/** What `fetch` is told. */
export function toInit(request: PreparedRequest, signal: AbortSignal): RequestInit {
  const { method, headers, body } = request
  // The API never redirects and knows no cookies: following a redirect could carry the token
  // elsewhere, or make a GET of a POST.
  const content =
    body === undefined
      ? {}
      : { body: body as BodyInit, ...(body instanceof ReadableStream ? { duplex: "half" } : {}) }
  return { method, headers, signal, redirect: "manual", credentials: "omit", ...content }
}
