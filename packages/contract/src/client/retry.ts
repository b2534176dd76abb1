import { clientLimits } from "./limits.ts"

/** How an attempt ended that was not a success: with an answer, or (`undefined`) without one. */
export type Failure = { readonly status: number; readonly headers: Headers } | undefined

/** Whether another attempt may help and can do no harm. */
export function canRetry(failure: Failure, isRepeatable: boolean): boolean {
  if (!failure) return isRepeatable
  const advice = failure.headers.get("x-should-retry")
  if (advice === "true" || advice === "false") return advice === "true"
  // The statuses of the retryable error codes: the server has not begun to work on the request.
  return failure.status === 429 || failure.status === 503
}

/**
 * How long to wait before the next attempt; `attempt` counts from 0, `random` is at least 0 and
 * less than 1.
 */
export function toRetryMs(
  failure: Failure,
  attempt: number,
  nowMs: number,
  random: number,
): number {
  const askedMs = failure && toRetryAfterMs(failure.headers, nowMs)
  if (askedMs !== undefined) return Math.min(askedMs, clientLimits.retryAfterMsMax)
  // Up to a half less, so that clients who failed together do not come back together.
  return (
    Math.min(clientLimits.backoffMsMin * 2 ** attempt, clientLimits.backoffMsMax) * (1 - random / 2)
  )
}

/**
 * What `retry-after` asks for, as seconds or as an HTTP date; `undefined` when it is absent or
 * rubbish.
 */
export function toRetryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const value = headers.get("retry-after")?.trim() ?? ""
  if (/^\d+$/.test(value)) return Number(value) * 1000
  // Date.parse makes a date of nearly anything: only the form that HTTP prescribes is read.
  const atMs = /^[A-Z][a-z]+,? .+ GMT$/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
