/** How patient a client is where its options say nothing else. */
export const clientLimits = {
  /** How often a request is sent again after its first attempt. */
  retriesMax: 2,
  /** How long one attempt may take, until the last byte of its answer. */
  timeoutMs: 60_000,
  /**
   * The longest time that a timer of the web platform can wait; a longer one would go off at once.
   */
  timeoutMsMax: 2_147_483_647,
  /** The wait before the first retry; it doubles with each further one. */
  backoffMsMin: 500,
  /** The longest wait between two attempts when the server names none. */
  backoffMsMax: 8_000,
  /** The longest wait between two attempts when the server names one. */
  retryAfterMsMax: 60_000,
} as const
