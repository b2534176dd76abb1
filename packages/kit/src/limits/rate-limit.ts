import { Refused } from "../refused.ts"
import type { SharedRates } from "./shared-rates.ts"

/** The limits of requests to the API; undefined for no limit. */
export interface RateLimits {
  readonly perToken: RateLimiter | undefined
  readonly perAddress: RateLimiter | undefined
  /** Clients of OAuth that one address registers, and devices that it signs in. */
  readonly registrations: RateLimiter
}

/** Counts requests on all nodes together, and refuses those beyond the limit. */
export interface RateLimiter {
  /** Throws or rejects with `rate_limited` when the key has used up its minute. */
  take(key: string): void | Promise<void>
}

/** The error for a caller that sends too many requests. `what` is the beginning of its message. */
export class RateLimited extends Refused {
  declare readonly code: "rate_limited"

  constructor(
    override readonly retryAfterSeconds: number,
    what = "Cannot take more requests from you now:",
  ) {
    super("rate_limited", `${what} try again in ${retryAfterSeconds} s`)
  }
}

/** The period of all limits per minute. */
export const minuteMs = 60_000

/** Limits each key to `perMinute` requests a minute. */
export function createRateLimiter(
  perMinute: number,
  rates: Pick<SharedRates, "take">,
): RateLimiter {
  return { take: (key) => admit(rates.take(key, perMinute)) }
}

/** Throws or rejects with `rate_limited` if there is a time to wait. */
export function admit(waitMs: number | Promise<number>, refusal?: string): void | Promise<void> {
  if (typeof waitMs !== "number") return waitMs.then((ms) => refuseUntil(ms, refusal))
  refuseUntil(waitMs, refusal)
}

/** Throws `rate_limited` if there is a time to wait. */
export function refuseUntil(waitMs: number, refusal?: string): void {
  if (waitMs > 0) throw new RateLimited(Math.ceil(waitMs / 1000), refusal)
}
