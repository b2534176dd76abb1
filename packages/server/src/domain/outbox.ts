/**
 * An outbox is a table of messages that are sent with retries, such as deliveries of webhooks and
 * outgoing mails. A row waits while it has a time of its next attempt. A claim moves that time to
 * the end of its lease and increases the fence: the row of a node that died is due again by itself,
 * and a node that lost its lease cannot record an outcome.
 */
export interface OutboxQueue {
  /**
   * Claims rows that are due: owners take turns, and no owner has more than their share.
   * `inFlight` counts the claims of each owner that this node has not finished.
   */
  claim(countMax: number, inFlight: ReadonlyMap<string, number>): Promise<readonly OutboxClaim[]>
  /** Extends the lease. False when it was lost: another node may send the message. */
  renew(claim: OutboxClaim): Promise<boolean>
  /** Makes the row due at once, as if it had not been claimed. */
  giveBack(claim: OutboxClaim): Promise<void>
  /** The time until the next row is due, in milliseconds; undefined when none waits. */
  nextDueMs(): Promise<number | undefined>
  /**
   * Calls back when a row was added, by any node. Returns a function that ends it. A notice may get
   * lost, so rows must also be looked for.
   */
  listen(onAdded: () => void): () => void
  /** For the metrics: rows that wait, and the age of the oldest of them. */
  stats(): Promise<OutboxStats>
}

/** The right to send a message once. */
export interface OutboxClaim {
  readonly id: string
  readonly ownerId: string
  readonly fence: number
  /** The number of attempts, including this one. */
  readonly attempts: number
}

/** The rows of an outbox that wait. */
export interface OutboxStats {
  readonly waiting: number
  readonly oldestMs: number
}

/** How long and how often a message is tried again. */
export interface Backoff {
  /** The delay after the first attempt. */
  readonly firstMs: number
  /** Each delay is this many times the one before. */
  readonly factor: number
  readonly delayMsMax: number
  /** No attempt is made later than this after the message was created. */
  readonly forMs: number
}

/** Delays differ by up to this share, so that messages that failed together are not retried so. */
const jitter = 0.2

/**
 * The delay until the next attempt, in milliseconds; undefined when there is none. A receiver may
 * ask for a longer delay, up to the maximum.
 */
export function toRetryDelayMs(
  { firstMs, factor, delayMsMax, forMs }: Backoff,
  attempts: number,
  ageMs: number,
  askedMs = 0,
  random: () => number = Math.random,
): number | undefined {
  const plain = Math.min(delayMsMax, firstMs * factor ** (attempts - 1))
  const spread = plain * (1 + jitter * (2 * random() - 1))
  const delayMs = Math.round(Math.max(spread, Math.min(askedMs, delayMsMax)))
  return ageMs + delayMs > forMs ? undefined : delayMs
}
