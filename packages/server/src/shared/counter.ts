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
