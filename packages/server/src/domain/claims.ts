/**
 * Who works on what. A node claims work, and is alone with it while the lease of the node lasts
 * (`nodes.ts`). Each claim of the same work has a higher fence than the one before, whose records are
 * ignored. All times are those of the database's clock.
 *
 *   waiting ──claim──▶ claimed by a node ──▶ ended
 *      ▲                   │ postponed, given back,
 *      └───────────────────┴─ or taken over: the node is gone
 *
 * A webhook delivery, an email or a lockfile stores its claim in its own row: the node and the fence.
 * Runs are claimed in the row of the node, many with one write (`queue/queue-store.ts`, ADR 11). An
 * idempotency key has a claim of its own kind, which ends with its request
 * (`storage/accounts/idempotency.ts`).
 */
export interface ClaimQueue<OneClaim extends Claim = Claim> {
  /**
   * Claims due rows: owners take turns, and no owner has more than their share. `held` are the claims
   * that this node works on.
   */
  claim(countMax: number, held: readonly OneClaim[]): Promise<readonly OneClaim[]>
  /**
   * Lets rows wait again whose node is gone, and rows of this node that are not held: the write of a
   * claim or of an outcome had seemed to fail.
   */
  takeOver(held: readonly OneClaim[]): Promise<void>
  /** Lets the row wait again: as if it had not been claimed, or as a failed attempt with a delay. */
  giveBack(claim: OneClaim, delayMs?: number): Promise<void>
  /** The time until the next row is due, in milliseconds; undefined when none waits. */
  nextDueMs(): Promise<number | undefined>
  /**
   * Calls back when a row was added, by any node. Returns a function that ends it. A notice may get
   * lost, so rows must also be looked for.
   */
  listen(onAdded: () => void): () => void
}

/** Work under the number of its claim. */
export interface Fenced {
  readonly id: string
  readonly fence: number
}

/** The right to one attempt. */
export interface Claim extends Fenced {
  readonly ownerId: string
  /** The number of attempts, including this one. */
  readonly attempts: number
}

/** The rows that wait, for the metrics. */
export interface WaitingStats {
  readonly waiting: number
  readonly oldestMs: number
}
