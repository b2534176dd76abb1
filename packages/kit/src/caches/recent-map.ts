/** How the entries of a map count, and what happens to those that it drops. */
interface RecentMapOptions<Key, Value> {
  /** The size of an entry, which never changes; 1 by default. */
  sizeOf?(value: Value, key: Key): number
  /** Called with a value that is dropped, or that another one replaces. */
  onDrop?(value: Value): void
}

/**
 * A map that drops the entries that were set or read longest ago while their sizes add up to more than
 * `sizeMax`. An entry that is larger than that is not kept.
 */
export class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #sizeMax: number
  readonly #options: RecentMapOptions<Key, Value>
  #sizes = 0

  constructor(sizeMax: number, options: RecentMapOptions<Key, Value> = {}) {
    super()
    this.#sizeMax = sizeMax
    this.#options = options
  }

  /** The sum of the sizes. */
  get sizes(): number {
    return this.#sizes
  }

  override get(key: Key): Value | undefined {
    const value = super.get(key)
    if (value === undefined) return undefined
    // A map keeps the order in which its keys were added.
    super.delete(key)
    super.set(key, value)
    return value
  }

  override set(key: Key, value: Value): this {
    const former = super.get(key)
    this.delete(key)
    if (former !== undefined && former !== value) this.#options.onDrop?.(former)
    const size = this.#sizeOf(value, key)
    if (size > this.#sizeMax) return this
    super.set(key, value)
    this.#sizes += size
    if (this.#sizes > this.#sizeMax) this.#dropOldest()
    return this
  }

  /** Does not drop the value: the caller has taken it out. */
  override delete(key: Key): boolean {
    const value = super.get(key)
    if (!super.delete(key)) return false
    this.#sizes -= this.#sizeOf(value as Value, key)
    return true
  }

  override clear(): void {
    super.clear()
    this.#sizes = 0
  }

  #dropOldest(): void {
    for (const [key, value] of this) {
      if (this.#sizes <= this.#sizeMax) return
      this.delete(key)
      this.#options.onDrop?.(value)
    }
  }

  #sizeOf(value: Value, key: Key): number {
    return this.#options.sizeOf?.(value, key) ?? 1
  }
}
