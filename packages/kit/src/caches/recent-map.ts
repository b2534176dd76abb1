/** How the entries of a map count, and what happens to those that it drops. */
interface RecentMapOptions<Key, Value> {
  /** The size of an entry; 1 by default. */
  sizeOf?(value: Value, key: Key): number
  /** Called with a value that is dropped, or that another one replaces. */
  onDrop?(value: Value): void
}

/** An entry between its neighbours in the order of use. */
interface Entry<Key, Value> {
  readonly key: Key
  readonly value: Value
  readonly size: number
  older: Entry<Key, Value> | undefined
  newer: Entry<Key, Value> | undefined
}

/**
 * A map that drops the entries that were set or read longest ago while their sizes add up to more than
 * `sizeMax`. An entry that is larger than that is not kept.
 *
 * The order is a list of its own: a Map has one too, but finding its first key after many deletions takes
 * as long as there are entries.
 */
export class RecentMap<Key, Value> {
  readonly #entries = new Map<Key, Entry<Key, Value>>()
  readonly #sizeMax: number
  readonly #options: RecentMapOptions<Key, Value>
  #sizes = 0
  #oldest: Entry<Key, Value> | undefined
  #newest: Entry<Key, Value> | undefined

  constructor(sizeMax: number, options: RecentMapOptions<Key, Value> = {}) {
    this.#sizeMax = sizeMax
    this.#options = options
  }

  /** The sum of the sizes. */
  get sizes(): number {
    return this.#sizes
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry !== undefined && entry !== this.#newest) {
      this.#unlink(entry)
      this.#link(entry)
    }
    return entry?.value
  }

  set(key: Key, value: Value): this {
    const { sizeOf, onDrop } = this.#options
    const former = this.#entries.get(key)
    if (former !== undefined) {
      this.#remove(former)
      if (former.value !== value) onDrop?.(former.value)
    }
    const size = sizeOf?.(value, key) ?? 1
    if (size > this.#sizeMax) return this
    const entry = { key, value, size, older: undefined, newer: undefined }
    this.#entries.set(key, entry)
    this.#sizes += size
    this.#link(entry)
    while (this.#oldest !== undefined && this.#sizes > this.#sizeMax) {
      const dropped = this.#oldest
      this.#remove(dropped)
      onDrop?.(dropped.value)
    }
    return this
  }

  /** Takes an entry out, without `onDrop`. */
  delete(key: Key): boolean {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#remove(entry)
    return entry !== undefined
  }

  clear(): void {
    this.#entries.clear()
    this.#oldest = undefined
    this.#newest = undefined
    this.#sizes = 0
  }

  /** From the one that was used longest ago to the one that was used last. */
  *values(): Generator<Value> {
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) yield entry.value
  }

  #remove(entry: Entry<Key, Value>): void {
    this.#entries.delete(entry.key)
    this.#sizes -= entry.size
    this.#unlink(entry)
  }

  #link(entry: Entry<Key, Value>): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest) this.#newest.newer = entry
    else this.#oldest = entry
    this.#newest = entry
  }

  #unlink({ older, newer }: Entry<Key, Value>): void {
    if (older) older.newer = newer
    else this.#oldest = newer
    if (newer) newer.older = older
    else this.#newest = older
  }
}
