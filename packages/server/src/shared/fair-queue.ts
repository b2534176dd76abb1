/**
 * A queue in which keys take turns (round robin). The items of one key stay in order, and a key
 * with many items delays every other key by one item per turn. No key starves: new keys join
 * behind those that wait.
 */
export class FairQueue<Item> {
  readonly #itemsMax: number
  readonly #itemsPerKeyMax: number
  readonly #itemsByKey = new Map<string, Item[]>()
  #size = 0

  /** By default one key may use a quarter of `itemsMax`. */
  constructor(itemsMax = Number.POSITIVE_INFINITY, itemsPerKeyMax = Math.ceil(itemsMax / 4)) {
    this.#itemsMax = itemsMax
    this.#itemsPerKeyMax = itemsPerKeyMax
  }

  get size(): number {
    return this.#size
  }

  /** The items of one key are in order; the keys are in the order of their next turn. */
  get items(): Item[] {
    return [...this.#itemsByKey.values()].flat()
  }

  /** The keys that have items, in the order of their next turn. */
  get keys(): string[] {
    return [...this.#itemsByKey.keys()]
  }

  /** Returns false when the queue is full, or the key's share of it. */
  push(key: string, item: Item): boolean {
    const items = this.#itemsByKey.get(key) ?? []
    if (this.#size >= this.#itemsMax || items.length >= this.#itemsPerKeyMax) return false
    items.push(item)
    this.#itemsByKey.set(key, items)
    this.#size += 1
    return true
  }

  /** Puts an item back in front of the others of its key, even when the queue is full. */
  unshift(key: string, item: Item): void {
    this.#itemsByKey.set(key, [item, ...(this.#itemsByKey.get(key) ?? [])])
    this.#size += 1
  }

  /** Takes the next item. A key that `canTake` rejects keeps its turn. */
  shift(canTake: (key: string) => boolean = () => true): Item | undefined {
    for (const [key, items] of this.#itemsByKey) {
      if (!canTake(key)) continue
      const item = items.shift()
      // Deleting and setting moves the key behind all others.
      this.#itemsByKey.delete(key)
      if (items.length > 0) this.#itemsByKey.set(key, items)
      this.#size -= 1
      return item
    }
    return undefined
  }

  /** Returns false when the item is not in the queue. */
  delete(key: string, item: Item): boolean {
    const items = this.#itemsByKey.get(key) ?? []
    const index = items.indexOf(item)
    if (index === -1) return false
    items.splice(index, 1)
    if (items.length === 0) this.#itemsByKey.delete(key)
    this.#size -= 1
    return true
  }

  /** Removes all items and returns them. */
  clear(): Item[] {
    const { items } = this
    this.#itemsByKey.clear()
    this.#size = 0
    return items
  }
}
