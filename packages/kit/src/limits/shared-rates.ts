import { TokenBucket, TokenBuckets } from "../counts/token-bucket.ts"
import {
  type BudgetSource,
  type OpenAsk,
  type Sharing,
  shareOf,
  toBudgetKey,
  trustOf,
} from "./budgets.ts"
import type { BudgetAnswer, RateAnswer } from "./settle-budget.ts"

const limits = {
  /** What needs no answer is reported so much later, together with others. */
  reportMs: 20,
  /** How long this node decides alone about a key that the database does not store. */
  unstoredMs: 10_000,
}

/**
 * A token bucket per key that all nodes share. Each node has a copy, which may show more tokens than
 * there are: what others have taken it learns when it reports what it has taken itself. It may take
 * `trustOf` tokens before they are reported; for more it asks. So a key that is used seldom costs
 * nothing, and one whose tokens are used up costs nothing either, since the copy shows that.
 */
export class SharedRates implements BudgetSource {
  readonly #name: string
  readonly #periodMs: number
  readonly #now: () => number
  readonly #sharing: Sharing
  readonly #buckets: TokenBuckets<SharedBucket>
  /** The keys with something to report or to ask. */
  readonly #due = new Map<string, SharedBucket>()
  #lastMinuteOf: ((key: string) => number) | undefined

  /** The name differs from that of other limits. */
  constructor(name: string, periodMs: number, now: () => number, sharing: Sharing) {
    this.#name = name
    this.#periodMs = periodMs
    this.#now = now
    this.#sharing = sharing
    this.#buckets = new TokenBuckets(periodMs, now, SharedBucket)
    sharing.add(this)
  }

  /**
   * Makes the nodes count together what they use in a minute. `lastMinuteOf` is what this node has used
   * of a key in the last one.
   */
  count(lastMinuteOf: (key: string) => number): void {
    this.#lastMinuteOf = lastMinuteOf
  }

  /**
   * Takes a token. Returns 0, or the milliseconds until the key has one; a promise if other nodes may
   * have used up the tokens. The capacity of a key may change from call to call.
   */
  take(key: string, capacity: number): number | Promise<number> {
    const bucket = this.#get(key, capacity)
    if (!bucket.hasToken) return bucket.msUntilToken
    bucket.charge(1)
    if (!this.#isTrusted(bucket, capacity)) return this.#ask(key, bucket, 1)
    this.#noteTaken(key, bucket, 1)
    return 0
  }

  /** Takes tokens if there is one, as far as this node knows; the rest becomes a debt. */
  takeNow(key: string, capacity: number, amount: number): number {
    const bucket = this.#get(key, capacity)
    if (!bucket.hasToken) return bucket.msUntilToken
    bucket.charge(amount)
    this.#noteTaken(key, bucket, amount)
    return 0
  }

  /** Whether `take` would succeed. */
  hasToken(key: string, capacity: number): boolean | Promise<boolean> {
    const bucket = this.#get(key, capacity)
    if (!bucket.hasToken || this.#isTrusted(bucket, capacity)) return bucket.hasToken
    return this.#ask(key, bucket, 0).then((waitMs) => waitMs === 0)
  }

  /** Takes tokens whether they are there or not. */
  charge(key: string, capacity: number, amount = 1): void {
    const bucket = this.#get(key, capacity)
    bucket.charge(amount)
    this.#noteTaken(key, bucket, amount)
  }

  /** The key of the limit in the database. */
  sharedKeyOf(key: string): string {
    return toBudgetKey(this.#name, key)
  }

  /** Tokens that this node has taken, and the database does not know of. */
  unreportedOf(key: string): number {
    return this.#buckets.find(key)?.unreported ?? 0
  }

  join(): void {
    for (const [key, bucket] of this.#buckets.entries()) this.#noteTaken(key, bucket, 0)
  }

  msUntilDue(): number {
    return this.#due.size === 0 ? Infinity : limits.reportMs
  }

  collect(asksMax: number): readonly OpenAsk[] {
    const due = this.#due.entries().take(asksMax).toArray()
    return due.map(([key, bucket]) => {
      this.#due.delete(key)
      return this.#toAsk(key, bucket)
    })
  }

  #get(key: string, capacity: number): SharedBucket {
    const bucket = this.#buckets.get(key, capacity)
    bucket.limit = capacity
    bucket.resize(this.#isAlone(bucket) ? shareOf(this.#sharing, capacity) : capacity)
    bucket.refill(this.#now())
    return bucket
  }

  /** Whether this node decides without the others. */
  #isAlone(bucket: SharedBucket): boolean {
    if (this.#sharing.nodeCount === 1) return false
    return this.#sharing.isCut || this.#now() < bucket.aloneUntil
  }

  #isTrusted(bucket: SharedBucket, capacity: number): boolean {
    return bucket.unreported < trustOf(this.#sharing, capacity) || this.#isAlone(bucket)
  }

  /** Reports the tokens before this node has taken all that it is trusted with. */
  #noteTaken(key: string, bucket: SharedBucket, amount: number): void {
    bucket.unreported += amount
    if (this.#sharing.nodeCount === 1 || bucket.unreported === 0) return
    if (bucket.unreported < trustOf(this.#sharing, bucket.limit) / 2) return
    if (this.#now() < bucket.aloneUntil) return
    this.#due.set(key, bucket)
    if (!this.#sharing.isCut) this.#sharing.wakeIn(limits.reportMs)
  }

  #ask(key: string, bucket: SharedBucket, tokens: 0 | 1): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>()
    bucket.waiting.push({ tokens, resolve })
    this.#due.set(key, bucket)
    this.#sharing.wakeIn(0)
    return promise
  }

  #toAsk(key: string, bucket: SharedBucket): OpenAsk {
    const { limit: capacity, waiting, unreported } = bucket
    bucket.waiting = []
    bucket.refill(this.#now())
    const wanted = countTokens(waiting)
    // A node that has decided alone counts what it has used of its own part.
    const used = Math.max(0, bucket.capacity - bucket.tokens - wanted)
    let takenAlone = 0
    return {
      ask: {
        key: this.sharedKeyOf(key),
        capacity,
        periodMs: this.#periodMs,
        // What has been refilled since then is no longer used.
        spent: Math.min(unreported, used),
        wanted,
        used,
        // A node that was alone has not reported for long: most of it may be older than a minute.
        ...(this.#lastMinuteOf && { counted: Math.min(unreported, this.#lastMinuteOf(key)) }),
      },
      settle: (answer) => {
        if (answer && isRateAnswer(answer)) this.#apply(bucket, answer, unreported, waiting)
        else takenAlone = this.#decideAlone(bucket, waiting)
      },
      noteLate(answer) {
        if (answer && isRateAnswer(answer))
          bucket.unreported -= unreported + Math.min(answer.granted, takenAlone)
      },
    }
  }

  #apply(
    bucket: SharedBucket,
    { used, granted }: RateAnswer,
    reported: number,
    waiting: readonly Waiting[],
  ): void {
    bucket.unreported -= reported
    bucket.resize(bucket.limit)
    bucket.tokens = bucket.limit - used - bucket.unreported - countTokens(bucket.waiting)
    let left = granted
    for (const { tokens, resolve } of waiting) {
      const isGranted = tokens === 0 ? bucket.hasToken : left > 0
      left -= tokens
      resolve(isGranted ? 0 : Math.max(1, bucket.msUntilToken))
    }
  }

  /** Returns how many tokens were taken. */
  #decideAlone(bucket: SharedBucket, waiting: readonly Waiting[]): number {
    let taken = 0
    const nowMs = this.#now()
    bucket.tokens += countTokens(waiting)
    if (this.#sharing.nodeCount > 1) {
      if (!this.#sharing.isCut) bucket.aloneUntil = nowMs + limits.unstoredMs
      bucket.resize(shareOf(this.#sharing, bucket.limit))
    }
    for (const { tokens, resolve } of waiting) {
      const isTaken = bucket.hasToken
      if (isTaken) {
        bucket.charge(tokens)
        taken += tokens
      }
      resolve(isTaken ? 0 : bucket.msUntilToken)
    }
    bucket.unreported += taken
    return taken
  }
}

/** A request that waits for the answer to an ask; with 0 tokens it only wants to know. */
interface Waiting {
  readonly tokens: 0 | 1
  /** With 0, or the milliseconds until there is a token. */
  resolve(waitMs: number): void
}

/** This node's copy of a bucket. The tokens of those that wait are not in it. */
class SharedBucket extends TokenBucket {
  /** The capacity for all nodes together. */
  limit = 0
  /** Tokens that this node has taken, and the database does not know of. */
  unreported = 0
  waiting: Waiting[] = []
  aloneUntil = 0
}

function countTokens(waiting: readonly Waiting[]): number {
  return waiting.reduce((sum, { tokens }) => sum + tokens, 0)
}

function isRateAnswer(answer: BudgetAnswer): answer is RateAnswer {
  return "granted" in answer
}
