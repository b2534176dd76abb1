import { OpenCounts } from "../counts/counter.ts"
import { FairQueue, type FairQueueLimits } from "./fair-queue.ts"

/** How many actions of one key there may be. */
export interface FairSlotsLimits extends FairQueueLimits {
  /** Items of one key that run or wait. */
  readonly perKeyMax?: number
  /** Items of one key that run. */
  runningPerKeyMax?(key: string): number
}

interface SlotOptions {
  readonly signal?: AbortSignal | undefined
  /** Actions with the same text run one after the other, whatever their keys are. */
  readonly alone?: string | undefined
}

/**
 * Runs a limited number of actions at once. Others wait in a fair queue: those that are late, or for
 * which there is no room, are refused.
 */
export class FairSlots {
  readonly #atOnceMax: number
  readonly #limits: FairSlotsLimits
  readonly #toFullError: (key: string) => Error
  readonly #queue: FairQueue<string | undefined, () => void>
  /** Actions that run or wait. */
  readonly #perKey = new OpenCounts()
  /** The slots that are taken, also by actions that were let in and begin in a moment. */
  readonly #taken = new OpenCounts()
  readonly #alone = new Set<string>()
  readonly #running = new Set<Promise<unknown>>()

  constructor(atOnceMax: number, limits: FairSlotsLimits, toFullError: (key: string) => Error) {
    this.#atOnceMax = atOnceMax
    this.#limits = limits
    this.#toFullError = toFullError
    this.#queue = new FairQueue(limits, ({ key, reject }) => reject(toFullError(key)))
  }

  /** Actions of all keys that wait. */
  get waiting(): number {
    return this.#queue.size
  }

  /** Whether any action of the key runs or waits. */
  isBusy(key: string): boolean {
    return this.#taken.of(key) > 0 || this.#queue.sizeOf(key) > 0
  }

  /** Whether actions of the key have as many slots as they may. */
  isAtShare(key: string): boolean {
    const { runningPerKeyMax } = this.#limits
    return this.#taken.of(key) >= (runningPerKeyMax?.(key) ?? Number.POSITIVE_INFINITY)
  }

  /**
   * Rejects with the reason of the signal when it aborts before the action starts, and with the full
   * error when too many wait.
   */
  async run<Result>(
    key: string,
    act: () => Promise<Result>,
    { signal, alone }: SlotOptions = {},
  ): Promise<Result> {
    signal?.throwIfAborted()
    const endCount = this.#perKey.tryOpen(key, this.#limits.perKeyMax ?? Number.POSITIVE_INFINITY)
    if (!endCount) throw this.#toFullError(key)
    try {
      return await this.#runInTurn(key, act, signal, alone)
    } finally {
      endCount()
    }
  }

  /** Resolves when no action runs. */
  async whenIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  async #runInTurn<Result>(
    key: string,
    act: () => Promise<Result>,
    signal: AbortSignal | undefined,
    alone: string | undefined,
  ): Promise<Result> {
    const release = this.#mayStart(key, alone)
      ? this.#take(key, alone)
      : await this.#wait(key, signal, alone)
    try {
      signal?.throwIfAborted()
      const running = act()
      this.#running.add(running)
      return await running.finally(() => this.#running.delete(running))
    } finally {
      release()
    }
  }

  #mayStart(key: string, alone: string | undefined): boolean {
    const isFree = this.#taken.total < this.#atOnceMax && !this.isAtShare(key)
    return isFree && !(alone !== undefined && this.#alone.has(alone))
  }

  /** Takes a slot. Returns a function that gives it to the next ones. */
  #take(key: string, alone: string | undefined): () => void {
    const endCount = this.#taken.open(key)
    if (alone !== undefined) this.#alone.add(alone)
    return () => {
      endCount()
      if (alone !== undefined) this.#alone.delete(alone)
      this.#startWaiting()
    }
  }

  #wait(
    key: string,
    signal: AbortSignal | undefined,
    alone: string | undefined,
  ): Promise<() => void> {
    const waiter = this.#queue.add(key, alone, { signal })
    if (!waiter) throw this.#toFullError(key)
    return waiter.promise
  }

  /** Lets in those that may start, at once, so that no other can come between. */
  #startWaiting(): void {
    while (this.#taken.total < this.#atOnceMax) {
      const waiter = this.#queue.next(
        (key) => !this.isAtShare(key),
        (alone) => alone === undefined || !this.#alone.has(alone),
      )
      if (!waiter) return
      waiter.resolve(this.#take(waiter.key, waiter.about))
    }
  }
}
