const limits = {
  /** The delay before the second attempt; it doubles with each attempt. */
  firstMs: 5_000,
  delayMsMax: 3_600_000,
  /** The delay differs at random by up to this share, so that runs that failed together spread. */
  jitter: 0.2,
}

/** The delay after a failed attempt. `random` is in [0, 1). */
export function toRetryDelay(attempt: number, random: number = Math.random()): number {
  const delayMs = Math.min(limits.firstMs * 2 ** (attempt - 1), limits.delayMsMax)
  return Math.round(delayMs * (1 + limits.jitter * (2 * random - 1)))
}
