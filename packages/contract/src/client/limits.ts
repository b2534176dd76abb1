/** The default limits of a client. */
export const clientLimits = {
  /** Retries after the first attempt. */
  retriesMax: 2,
  /** Time limit of one attempt, up to the last byte of its response. */
  timeoutMs: 60_000,
  /** The largest response that is read as a whole: JSON, text, and errors. */
  responseBytesMax: 134_217_728,
  /** The largest event of a run that is followed. */
  eventCharsMax: 16_777_216,
  /** The longest delay of a timer; with a longer one it fires at once. */
  timeoutMsMax: 2_147_483_647,
  /** The delay before the first retry; it doubles with each further one. */
  backoffMsMin: 500,
  /** The longest delay if the server names none. */
  backoffMsMax: 8_000,
  /** The longest delay that the server may name. */
  retryAfterMsMax: 60_000,
} as const
