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

/** Of a run, whose attempts its caller limits, and of an attempt that threw an error of the server. */
export const workBackoff: Backoff = { firstMs: 5_000, factor: 2, delayMsMax: 3_600_000 }

/** Retries of a webhook for a day: after 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, then every 3 hours. */
export const webhookBackoff = {
  firstMs: 5_000,
  factor: 4,
  delayMsMax: 10_800_000,
  forMs: 86_400_000,
} satisfies Backoff

/** Of an email, for a day: after one minute, two, four, … then every two hours. */
export const mailBackoff: Backoff = {
  firstMs: 60_000,
  factor: 2,
  delayMsMax: 7_200_000,
  forMs: 86_400_000,
}

/** Of packages that could not be fetched: after 5 s, 25 s, 2 min and 10 min. */
export const lockfileBackoff: Backoff & { readonly attemptsMax: number } = {
  firstMs: 5_000,
  factor: 5,
  delayMsMax: 600_000,
  attemptsMax: 5,
}

/** Of a request that did not reach a libSQL server, which may be starting: after 50 ms and 250 ms. */
export const libsqlBackoff: Backoff = { firstMs: 50, factor: 5, delayMsMax: 250, attemptsMax: 3 }

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

/** The same; undefined when there is no further attempt. */
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
