/**
 * Who works on what. A node claims work, and is alone with it while the lease of the node lasts
 * (`nodes.ts`). Records with an older fence are ignored. The fence of a row rises with each claim, that of
 * a run whenever a claim ends without an outcome. All times are those of the database's clock.
 *
 *   waiting ──claim──▶ claimed by a node ──▶ ended
 *      ▲                   │ given back: the attempt does not count
 *      │                   │ postponed or failed: due again after a delay
 *      └───────────────────┴ taken over: the node is gone
 *
 * There are four kinds. Each is over as soon as its node is gone:
 *
 *   deliveries, emails, lockfiles  the node and the fence in their own rows (`storage/claims/row-claims.ts`)
 *   runs                           in the row of the node, many with one write (`storage/claims/node-claims.ts`,
 *                                  ADR 11; their states: `storage/queue/queue.ts`)
 *   idempotency keys               end with their request (`storage/accounts/idempotency.ts`)
 *   slots that nodes share         counts of each node (`limits/shared-slots.ts`)
 */
export interface ClaimQueue<OneClaim extends Claim = Claim> {
  /**
   * Claims due rows: owners take turns, and no owner has more than their share. `held` are the claims
   * that this node works on.
   */
  claim(countMax: number, held: readonly OneClaim[]): Promise<readonly OneClaim[]>
  /**
   * Lets rows wait again whose node is gone, and rows of this node that are not held: a write that
   * seemed to fail has claimed them, or the write of their outcome has failed.
   */
  takeOver(held: readonly OneClaim[]): Promise<void>
  /** Lets the row wait again as if it had not been claimed: the attempt does not count. */
  giveBack(claim: OneClaim): Promise<void>
  /** The attempt has failed and left no outcome: the row is due again after the delay. */
  fail(claim: OneClaim, delayMs: number): Promise<void>
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

/** What this server sends, for the metrics: the attempts of this node, and what waits on all nodes. */
export interface SentStats extends WaitingStats {
  /** Since the start of this node. */
  readonly outcomes: readonly (readonly [outcome: string, number])[]
}
