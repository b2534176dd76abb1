/** How many may wait, and for how long. Without a limit here there is none. */
export interface FairQueueLimits {
  readonly waitingMax?: number
  /** How many of one key may wait; by default a quarter of `waitingMax`. */
  readonly waitingPerKeyMax?: number | ((key: string) => number)
  /** The size of all together, and of those of one key. One of any size may wait alone. */
  readonly waitingBytesMax?: number
  readonly waitingBytesPerKeyMax?: number
  readonly waitMsMax?: number
}

/** One that waits. It has left the queue when it is settled, or before. */
export interface Waiter<About, Result> extends PromiseWithResolvers<Result> {
  readonly key: string
  readonly about: About
  readonly bytes: number
  sinceMs: number
  readonly signal: AbortSignal | undefined
  readonly onAbort: () => void
}

/**
 * Runs, processes and jobs of workers wait for their turn in such a queue. Keys (accounts, owners,
 * client addresses) take turns, and the waiters of one key stay in order: a key with many waiters
 * delays every other key by one waiter per turn. No key starves: new keys join behind those that wait.
 */
export class FairQueue<About = undefined, Result = void> {
  readonly #limits: FairQueueLimits
  readonly #onLate: (waiter: Waiter<About, Result>) => void
  readonly #byKey = new Map<string, Waiter<About, Result>[]>()
  #size = 0
  #bytes = 0
  /** Runs while anything waits, if there is a limit. */
  #timer: Timer | undefined

  /** `onLate` settles one that has left the queue because it has waited for `waitMsMax`. */
  constructor(
    limits: FairQueueLimits = {},
    onLate: (waiter: Waiter<About, Result>) => void = () => {},
  ) {
    this.#limits = limits
    this.#onLate = onLate
  }

  get size(): number {
    return this.#size
  }

  sizeOf(key: string): number {
    return this.#byKey.get(key)?.length ?? 0
  }

  /** The keys that wait, in the order of their next turn. */
  get keys(): string[] {
    return [...this.#byKey.keys()]
  }

  /** Waiters of one key are in order; the keys are in the order of their next turn. */
  get waiters(): Waiter<About, Result>[] {
    return [...this.#byKey.values()].flat()
  }

  /**
   * Undefined when the queue is full, or the key's share of it. When the signal aborts, the waiter
   * leaves and rejects with its reason; if it has aborted already, this throws the reason.
   */
  add(
    key: string,
    about: About,
    { bytes = 0, signal }: { bytes?: number; signal?: AbortSignal | undefined } = {},
  ): Waiter<About, Result> | undefined {
    signal?.throwIfAborted()
    if (this.#isFull(key, bytes)) return undefined
    const onAbort = () => {
      if (this.#remove(waiter)) waiter.reject(signal?.reason)
    }
    const waiter: Waiter<About, Result> = {
      key,
      about,
      bytes,
      sinceMs: performance.now(),
      signal,
      onAbort,
      ...Promise.withResolvers<Result>(),
    }
    this.#insert(waiter, this.sizeOf(key))
    return waiter
  }

  /** Lets it wait again, in front of the others of its key, even when the queue is full. */
  putBack(waiter: Waiter<About, Result>): void {
    waiter.sinceMs = performance.now()
    this.#insert(waiter, 0)
  }

  /**
   * Takes the next one. A key that `hasTurn` rejects keeps its turn; of another key it takes the first
   * that `isReady` accepts.
   */
  next(
    hasTurn: (key: string) => boolean = () => true,
    isReady: (about: About, key: string) => boolean = () => true,
  ): Waiter<About, Result> | undefined {
    for (const [key, waiters] of this.#byKey) {
      const waiter = hasTurn(key) ? waiters.find(({ about }) => isReady(about, key)) : undefined
      if (!waiter) continue
      this.#remove(waiter)
      // Deleting and setting moves the key behind all others.
      if (this.#byKey.delete(key)) this.#byKey.set(key, waiters)
      return waiter
    }
    return undefined
  }

  /** Removes all and returns them. */
  clear(): Waiter<About, Result>[] {
    const { waiters } = this
    for (const waiter of waiters) this.#remove(waiter)
    clearTimeout(this.#timer)
    this.#timer = undefined
    return waiters
  }

  #isFull(key: string, bytes: number): boolean {
    const unlimited = Number.POSITIVE_INFINITY
    const { waitingMax = unlimited, waitingBytesMax = unlimited } = this.#limits
    const { waitingPerKeyMax = Math.ceil(waitingMax / 4), waitingBytesPerKeyMax } = this.#limits
    const ofKeyMax = typeof waitingPerKeyMax === "number" ? waitingPerKeyMax : waitingPerKeyMax(key)
    const ofKey = waitingBytesPerKeyMax === undefined ? [] : (this.#byKey.get(key) ?? [])
    const bytesOfKey = ofKey.reduce((sum, waiter) => sum + waiter.bytes, 0)
    return (
      this.#size >= waitingMax ||
      this.sizeOf(key) >= ofKeyMax ||
      (this.#size > 0 && this.#bytes + bytes > waitingBytesMax) ||
      (ofKey.length > 0 && bytesOfKey + bytes > (waitingBytesPerKeyMax ?? unlimited))
    )
  }

  #insert(waiter: Waiter<About, Result>, index: number): void {
    const waiters = this.#byKey.get(waiter.key)
    if (waiters) waiters.splice(index, 0, waiter)
    else this.#byKey.set(waiter.key, [waiter])
    this.#size += 1
    this.#bytes += waiter.bytes
    waiter.signal?.addEventListener("abort", waiter.onAbort)
    const { waitMsMax = Number.POSITIVE_INFINITY } = this.#limits
    if (this.#timer === undefined && waitMsMax !== Number.POSITIVE_INFINITY) this.#arm(waitMsMax)
  }

  /** Returns false when it has left the queue before. */
  #remove(waiter: Waiter<About, Result>): boolean {
    const waiters = this.#byKey.get(waiter.key) ?? []
    const index = waiters.indexOf(waiter)
    if (index === -1) return false
    waiters.splice(index, 1)
    if (waiters.length === 0) this.#byKey.delete(waiter.key)
    this.#size -= 1
    this.#bytes -= waiter.bytes
    waiter.signal?.removeEventListener("abort", waiter.onAbort)
    return true
  }

  /** One timer for all: it is set for the one that has waited for longest, which may have left. */
  #arm(ms: number): void {
    this.#timer = setTimeout(() => this.#removeLate(), ms)
    this.#timer.unref()
  }

  #removeLate(): void {
    this.#timer = undefined
    const { waitMsMax = 0 } = this.#limits
    const startMs = performance.now() - waitMsMax
    const late = this.waiters.filter(({ sinceMs }) => sinceMs <= startMs)
    for (const waiter of late) if (this.#remove(waiter)) this.#onLate(waiter)
    const oldestMs = this.waiters.reduce(
      (ms, { sinceMs }) => Math.min(ms, sinceMs),
      startMs + waitMsMax,
    )
    if (this.#size > 0 && this.#timer === undefined) this.#arm(oldestMs - startMs)
  }
}
