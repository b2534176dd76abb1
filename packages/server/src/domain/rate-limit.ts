import { AppError } from "./app-error.ts"

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

/** The error of a caller who asks too often. */
export class RateLimited extends AppError {
  constructor(readonly retryAfterSeconds: number) {
    super("rate_limited", `Cannot take more requests from you now: try again in ${retryAfterSeconds} s`)
  }
}

const limits = { keysMax: 100_000, windowMs: 60_000 }

/**
 * A bucket that holds a minute's worth and fills evenly, kept as one number per key: the moment at which it will be full again.
 * Full buckets say nothing, so they are forgotten when the map has grown large.
 */
export function createRateLimiter(perMinute: number, now: () => number): RateLimiter {
  const costMs = limits.windowMs / perMinute
  const fullAt = new Map<string, number>()
  const forgetFull = (at: number) => {
    for (const [key, time] of fullAt) if (time <= at) fullAt.delete(key)
    // Under attack from more addresses than we count, the oldest entries go: memory is bounded before fairness.
    for (const key of fullAt.keys()) {
      if (fullAt.size < limits.keysMax) break
      fullAt.delete(key)
    }
  }
  return {
    take(key) {
      const at = now()
      const next = Math.max(fullAt.get(key) ?? 0, at) + costMs
      if (next - at > limits.windowMs) throw new RateLimited(Math.max(1, Math.ceil((next - at - limits.windowMs) / 1000)))
      if (fullAt.size >= limits.keysMax) forgetFull(at)
      fullAt.set(key, next)
    },
  }
}
