import { FairQueue } from "../../shared/fair-queue.ts"

/** A request that waits for a worker process. */
export interface Waiting {
  readonly owner: string
  readonly frame: Uint8Array
}

/** How many requests may wait, and for how long. */
export interface OwnerQueueLimits {
  /** Requests of all owners. */
  readonly waitingMax: number
  /** Requests of one owner. */
  readonly waitingPerOwnerMax: number
  /** The size of all requests together. */
  readonly waitingBytesMax: number
  /** Infinity for no limit. */
  readonly waitMsMax: number
}

/** Requests that wait: first come, first served within an owner; owners take turns. */
export class OwnerQueue<Item extends Waiting> {
  readonly #limits: OwnerQueueLimits
  readonly #onTimeout: (item: Item) => void
  readonly #items: FairQueue<Item>
  readonly #timers = new Map<Item, Timer>()
  #bytes = 0

  /** `onTimeout` gets each item that is removed because it has waited for `waitMsMax`. */
  constructor(limits: OwnerQueueLimits, onTimeout: (item: Item) => void) {
    this.#limits = limits
    this.#onTimeout = onTimeout
    this.#items = new FairQueue(limits.waitingMax, limits.waitingPerOwnerMax)
  }

  /** Returns false when the queue is full. An item of any size fits into an empty queue. */
  push(item: Item): boolean {
    const bytes = this.#bytes + item.frame.length
    if (this.#items.size > 0 && bytes > this.#limits.waitingBytesMax) return false
    if (!this.#items.push(item.owner, item)) return false
    this.#add(item)
    return true
  }

  /** Puts an item back in front of the others of its owner, even when the queue is full. */
  unshift(item: Item): void {
    this.#items.unshift(item.owner, item)
    this.#add(item)
  }

  /** Takes the next item of an owner that `canTake` accepts. */
  shift(canTake: (owner: string) => boolean): Item | undefined {
    const item = this.#items.shift(canTake)
    if (item) this.#remove(item)
    return item
  }

  /** Removes all items and returns them. */
  clear(): readonly Item[] {
    const items = this.#items.clear()
    for (const item of items) this.#remove(item)
    return items
  }

  #add(item: Item): void {
    const { waitMsMax } = this.#limits
    this.#bytes += item.frame.length
    if (waitMsMax === Number.POSITIVE_INFINITY) return
    const onTimeout = () => {
      this.#items.delete(item.owner, item)
      this.#remove(item)
      this.#onTimeout(item)
    }
    this.#timers.set(item, setTimeout(onTimeout, waitMsMax))
  }

  #remove(item: Item): void {
    this.#bytes -= item.frame.length
    clearTimeout(this.#timers.get(item))
    this.#timers.delete(item)
  }
}
