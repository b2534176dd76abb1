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

/**
 * The error of a caller who asks too often. `what` is the beginning of the sentence that tells
 * them.
 */
export class RateLimited extends AppError {
  constructor(
    readonly retryAfterSeconds: number,
    what = "Cannot take more requests from you now:",
  ) {
    super("rate_limited", `${what} try again in ${retryAfterSeconds} s`)
  }
}

const limits = {
  windowMs: 60_000,
  keysMax: 100_000,
  /**
   * How many are left when there were too many: fewer, so that not every request that follows has
   * to make room again.
   */
  keysKept: 90_000,
}

/**
 * A bucket that holds a minute's worth and fills evenly, kept as one number per key: the moment at
 * which it will be full again. Full buckets say nothing, so they are forgotten when the map has
 * grown large.
 */
export function createRateLimiter(perMinute: number, now: () => number): RateLimiter {
  // Moments are counted from here in units of which a millisecond brings `perMinute` and a request
  // costs `windowMs`. They are whole numbers, and small ones: with fractions, rounding would cost
  // most limits the last request of their minute.
  const startedAt = now()
  const capacity = limits.windowMs * perMinute
  const fullAt = new Map<string, number>()
  const forgetFull = (at: number) => {
    for (const [key, time] of fullAt) if (time <= at) fullAt.delete(key)
    // Under attack from more addresses than we count, the oldest entries go: memory is bounded
    // before fairness.
    for (const key of fullAt.keys()) {
      if (fullAt.size <= limits.keysKept) break
      fullAt.delete(key)
    }
  }
  return {
    take(key) {
      const at = (now() - startedAt) * perMinute
      const known = fullAt.get(key) ?? at
      // None takes longer than a minute to fill, unless the clock was set back: then nothing is
      // known of it.
      const next = (known > at && known <= at + capacity ? known : at) + limits.windowMs
      const missing = next - at - capacity
      if (missing > 0) throw new RateLimited(Math.ceil(missing / perMinute / 1000))
      if (fullAt.size >= limits.keysMax) forgetFull(at)
      fullAt.set(key, next)
    },
  }
}
