import { TokenBuckets } from "../../shared/token-bucket.ts"
import { AppError } from "../app-error.ts"

/** How many requests a minute; undefined for no limit. */
export interface RateLimits {
  readonly perTokenPerMinute: number | undefined
  readonly perAddressPerMinute: number | undefined
}

/** Counts requests and refuses those beyond the limit. */
export interface RateLimiter {
  /** Throws `rate_limited` when the key has used up its minute. */
  take(key: string): void
}

/** The error for a caller that sends too many requests. `what` is the beginning of its message. */
export class RateLimited extends AppError {
  constructor(
    readonly retryAfterSeconds: number,
    what = "Cannot take more requests from you now:",
  ) {
    super("rate_limited", `${what} try again in ${retryAfterSeconds} s`)
  }
}

/** The period of all limits per minute. */
export const minuteMs = 60_000

/** Limits each key to `perMinute` requests a minute. */
export function createRateLimiter(perMinute: number, now: () => number): RateLimiter {
  const buckets = new TokenBuckets(minuteMs, now)
  return {
    take(key) {
      const waitMs = buckets.take(key, perMinute)
      if (waitMs > 0) throw new RateLimited(Math.ceil(waitMs / 1000))
    },
  }
}
