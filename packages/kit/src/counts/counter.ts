/** Counts by key. */
export class Counter<Key> {
  readonly #counts = new Map<Key, number>()

  increment(key: Key): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  list(): readonly (readonly [key: Key, count: number])[] {
    return [...this.#counts]
  }
}

/** Counts what is open by key, such as the connections of each account. */
export class OpenCounts {
  readonly #counts = new Map<string, number>()
  /** How many are open of all keys. */
  total = 0

  /** The number of keys of which anything is open. */
  get size(): number {
    return this.#counts.size
  }

  of(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  /** Counts one more, like `open`; undefined, and no change, if `countMax` are open already. */
  tryOpen(key: string, countMax: number): (() => void) | undefined {
    return this.of(key) < countMax ? this.open(key) : undefined
  }

  /** Counts one more. Returns a function that ends the count. */
  open(key: string): () => void {
    this.add(key, 1)
    let isOpen = true
    return () => {
      if (isOpen) this.add(key, -1)
      isOpen = false
    }
  }

  /** Counts so many more, or fewer. */
  add(key: string, count: number): void {
    this.total += count
    const sum = this.of(key) + count
    if (sum > 0) this.#counts.set(key, sum)
    else this.#counts.delete(key)
  }
}
