/** When work that has failed is tried again. */
export interface Backoff {
  /** The delay after the first attempt. */
  readonly firstMs: number
  /** Each delay is this many times the one before. */
  readonly factor: number
  readonly delayMsMax: number
  /** No attempt is made later than this after the work was created. */
  readonly forMs?: number
  readonly attemptsMax?: number
  /** Delays differ by up to this share, so that work that failed together is not retried together. */
  readonly jitter?: number
}

/**
 * The delay after an attempt that has failed, in milliseconds. A receiver may ask for a longer delay,
 * up to the maximum. `random` is in [0, 1).
 */
export function toRetryDelay(
  { firstMs, factor, delayMsMax, jitter = 0.2 }: Backoff,
  attempts: number,
  askedMs = 0,
  random = Math.random(),
): number {
  const plainMs = Math.min(delayMsMax, firstMs * factor ** (attempts - 1))
  const spreadMs = plainMs * (1 + jitter * (2 * random - 1))
  return Math.round(Math.max(spreadMs, Math.min(askedMs, delayMsMax)))
}

/** The delay after an attempt that has failed; undefined when there is no further attempt. */
export function findRetryDelay(
  backoff: Backoff,
  {
    attempts,
    ageMs = 0,
    askedMs,
  }: { attempts: number; ageMs?: number; askedMs?: number | undefined },
): number | undefined {
  const { forMs = Number.POSITIVE_INFINITY, attemptsMax = Number.POSITIVE_INFINITY } = backoff
  const delayMs = toRetryDelay(backoff, attempts, askedMs)
  return attempts >= attemptsMax || ageMs + delayMs > forMs ? undefined : delayMs
}
