const limits = {
  keysMax: 100_000,
  /** Evicting some more keys than necessary keeps the next new key from evicting again. */
  keysAfterEviction: 90_000,
}

/**
 * Holds up to `capacity` tokens, starts full, and refills evenly: `capacity` tokens per `periodMs`.
 *
 * The level is counted in units: a token is `periodMs` units, and each millisecond adds `capacity`
 * units. With whole milliseconds all numbers are whole, so rounding never costs the last token.
 */
export class TokenBucket {
  readonly #periodMs: number
  #capacity: number
  #level: number
  #refilledMs: number

  constructor(capacity: number, periodMs: number, nowMs: number) {
    this.#periodMs = periodMs
    this.#capacity = capacity
    this.#level = capacity * periodMs
    this.#refilledMs = nowMs
  }

  get capacity(): number {
    return this.#capacity
  }

  /** Whether `take` would succeed, as of the last refill. */
  get hasToken(): boolean {
    return this.#level >= this.#periodMs
  }

  get isFull(): boolean {
    return this.#level === this.#capacity * this.#periodMs
  }

  /** The time until there is a token, as of the last refill. */
  get msUntilToken(): number {
    return Math.max(0, this.#periodMs - this.#level) / this.#capacity
  }

  /** The tokens at the last refill; negative for a debt. */
  get tokens(): number {
    return this.#level / this.#periodMs
  }

  /** Replaces the tokens, within what `charge` and the capacity allow. */
  set tokens(tokens: number) {
    const level = Math.max(tokens, -this.#capacity) * this.#periodMs
    this.#level = Math.min(Math.round(level), this.#capacity * this.#periodMs)
  }

  /** Adds the tokens that have accrued. A clock that was set back adds none and removes none. */
  refill(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - this.#refilledMs)
    this.#refilledMs = nowMs
    this.#level = Math.min(
      this.#level + elapsedMs * this.#capacity,
      this.#capacity * this.#periodMs,
    )
  }

  /**
   * Takes tokens whether they are there or not. The debt is at most `capacity`, so a bucket has a
   * token again after little more than one period.
   */
  charge(amount: number): void {
    this.#level = Math.max(this.#level - amount * this.#periodMs, -this.#capacity * this.#periodMs)
  }

  /**
   * Takes `amount` tokens if there is at least one; the rest becomes a debt. Returns false, and
   * takes none, if there is no token.
   */
  take(amount: number, nowMs: number): boolean {
    this.refill(nowMs)
    if (!this.hasToken) return false
    this.charge(amount)
    return true
  }

  /** Changes the capacity. The tokens in the bucket stay, up to the new capacity. */
  resize(capacity: number): void {
    if (capacity === this.#capacity) return
    this.#capacity = capacity
    this.#level = Math.max(
      Math.min(this.#level, capacity * this.#periodMs),
      -capacity * this.#periodMs,
    )
  }
}

/**
 * A token bucket per key. Memory is bounded: when there are too many keys, full buckets are dropped
 * first, since a new bucket is full too; then the oldest.
 */
export class TokenBuckets<Bucket extends TokenBucket = TokenBucket> {
  readonly #periodMs: number
  readonly #now: () => number
  readonly #create: BucketClass<Bucket>
  readonly #buckets = new Map<string, Bucket>()

  constructor(periodMs: number, now: () => number, create: BucketClass<Bucket>) {
    this.#periodMs = periodMs
    this.#now = now
    this.#create = create
  }

  entries(): Iterable<[key: string, bucket: Bucket]> {
    return this.#buckets
  }

  /**
   * Takes tokens as `TokenBucket.take` does. Returns 0, or the milliseconds until the key has a
   * token. The capacity of a key may change from call to call.
   */
  take(key: string, capacity: number, amount = 1): number {
    const bucket = this.get(key, capacity)
    bucket.resize(capacity)
    return bucket.take(amount, this.#now()) ? 0 : bucket.msUntilToken
  }

  find(key: string): Bucket | undefined {
    return this.#buckets.get(key)
  }

  /** The bucket of a key as it is; a new one has this capacity. */
  get(key: string, capacity: number): Bucket {
    return this.#buckets.get(key) ?? this.#add(key, capacity)
  }

  #add(key: string, capacity: number): Bucket {
    const nowMs = this.#now()
    if (this.#buckets.size >= limits.keysMax) this.#evict(nowMs)
    const bucket = new this.#create(capacity, this.#periodMs, nowMs)
    this.#buckets.set(key, bucket)
    return bucket
  }

  #evict(nowMs: number): void {
    for (const [key, bucket] of this.#buckets) {
      bucket.refill(nowMs)
      if (bucket.isFull) this.#buckets.delete(key)
    }
    for (const key of this.#buckets.keys()) {
      if (this.#buckets.size <= limits.keysAfterEviction) break
      this.#buckets.delete(key)
    }
  }
}

type BucketClass<Bucket> = new (capacity: number, periodMs: number, nowMs: number) => Bucket
