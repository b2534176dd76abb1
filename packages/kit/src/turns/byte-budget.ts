import { OpenCounts } from "../counts/counter.ts"
import { FairQueue, type FairQueueLimits } from "./fair-queue.ts"

/** `waitingBytesMax` and the other limits of a queue are for those that wait until bytes are free. */
export interface ByteBudgetLimits extends FairQueueLimits {
  /** What all hold together. */
  readonly bytesMax: number
  /** What one owner holds; by default a quarter of `bytesMax`. */
  readonly bytesPerOwnerMax?: number
}

/** Bytes of the budget that are taken until they are released. */
export interface HeldBytes {
  readonly bytes: number
  /**
   * Corrects the number when it is known better. More than before are taken without waiting, so that
   * two that hold bytes never wait for each other: take the most at first, and correct downwards.
   */
  resize(bytes: number): void
  /** Gives the bytes back. Calling it again does nothing. */
  release(): void
}

/**
 * Limits the memory of work that is under way, such as bodies: who needs bytes takes them first, and
 * waits in a fair queue while there are none. Owners (accounts, or else client addresses) take turns,
 * and one that holds its share delays itself only.
 */
export class ByteBudget {
  readonly #limits: ByteBudgetLimits & { readonly bytesPerOwnerMax: number }
  readonly #toFullError: () => Error
  readonly #queue: FairQueue<number, HeldBytes>
  readonly #byOwner = new OpenCounts()
  /** Whether the one whose turn it is waits for the bytes of others. */
  #lacksRoom = false

  /** `toFullError` makes the error of those that wait too long, and of those that are one too many. */
  constructor(limits: ByteBudgetLimits, toFullError: () => Error) {
    this.#limits = { bytesPerOwnerMax: Math.ceil(limits.bytesMax / 4), ...limits }
    this.#toFullError = toFullError
    this.#queue = new FairQueue(limits, ({ reject }) => reject(toFullError()))
  }

  /** How many bytes are taken. */
  get heldBytes(): number {
    return this.#byOwner.total
  }

  heldBytesOf(owner: string): number {
    return this.#byOwner.of(owner)
  }

  /** How many wait. */
  get waiting(): number {
    return this.#queue.size
  }

  /**
   * Takes the bytes when it is the owner's turn. More than the share of an owner count as that share.
   * Rejects with the reason of the signal when it aborts before. `waitingBytes` is what it keeps in
   * memory while it waits, as far as that is known.
   */
  async acquire(
    owner: string,
    bytes: number,
    signal?: AbortSignal,
    waitingBytes = bytes,
  ): Promise<HeldBytes> {
    signal?.throwIfAborted()
    const held = this.tryAcquire(owner, bytes)
    if (held) return held
    const waiter = this.#queue.add(owner, this.#toCounted(bytes), { bytes: waitingBytes, signal })
    if (!waiter) throw this.#toFullError()
    this.#serve()
    // When a waiter leaves, smaller ones behind it may have room.
    waiter.promise.catch(() => this.#serve())
    return waiter.promise
  }

  /** Takes the bytes at once; undefined where that would mean to wait. */
  tryAcquire(owner: string, bytes: number): HeldBytes | undefined {
    const counted = this.#toCounted(bytes)
    const isNext = !this.#lacksRoom && this.#queue.sizeOf(owner) === 0
    const isFree = isNext && this.#hasShare(owner, counted) && this.#hasRoom(counted)
    return isFree ? this.#hold(owner, counted) : undefined
  }

  #toCounted(bytes: number): number {
    return Math.min(bytes, this.#limits.bytesPerOwnerMax, this.#limits.bytesMax)
  }

  #hasShare(owner: string, bytes: number): boolean {
    return this.#byOwner.of(owner) + bytes <= this.#limits.bytesPerOwnerMax
  }

  #hasRoom(bytes: number): boolean {
    return this.#byOwner.total + bytes <= this.#limits.bytesMax
  }

  /**
   * Lets in those whose turn it is. One that waits for the bytes of others keeps all behind it waiting:
   * otherwise small ones would pass a large one for ever.
   */
  #serve(): void {
    for (;;) {
      this.#lacksRoom = false
      let tooMuchOf: string | undefined
      const waiter = this.#queue.next(
        () => !this.#lacksRoom,
        (bytes, owner) => {
          if (this.#lacksRoom || tooMuchOf === owner) return false
          if (!this.#hasShare(owner, bytes)) tooMuchOf = owner
          else if (!this.#hasRoom(bytes)) this.#lacksRoom = true
          return !this.#lacksRoom && tooMuchOf !== owner
        },
      )
      if (!waiter) return
      waiter.resolve(this.#hold(waiter.key, waiter.about))
    }
  }

  #hold(owner: string, bytes: number): HeldBytes {
    let held = bytes
    this.#byOwner.add(owner, bytes)
    const change = (to: number) => {
      this.#byOwner.add(owner, to - held)
      const isLess = to < held
      held = to
      if (isLess && this.#queue.size > 0) this.#serve()
    }
    let isReleased = false
    return {
      get bytes() {
        return held
      },
      resize: (to) => {
        if (!isReleased) change(this.#toCounted(to))
      },
      release: () => {
        isReleased = true
        change(0)
      },
    }
  }
}
