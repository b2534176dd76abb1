/** Something that waits on behalf of an account. */
export interface Queued {
  readonly accountId: string
}

/**
 * A queue in which accounts take turns, however many of their own each has in it. Each entry has a
 * tag: that of its account's entry before it plus one, but at least the time of the queue, which
 * advances by one when each account that waits has had a turn. The smallest tag comes first. An
 * account that comes late therefore overtakes those with many entries, and a stream of new accounts
 * does not keep the others waiting for ever.
 */
export class FairQueue<T extends Queued> {
  #entries: { readonly item: T; readonly tag: number }[] = []
  /** The tag of the last entry of each account, as long as it is ahead of the time. */
  readonly #tags = new Map<string, number>()
  #time = 0

  get size(): number {
    return this.#entries.length
  }

  /** In the order in which they came. */
  get items(): T[] {
    return this.#entries.map(({ item }) => item)
  }

  push(item: T): void {
    const tag = Math.max(
      this.#time,
      (this.#tags.get(item.accountId) ?? Number.NEGATIVE_INFINITY) + 1,
    )
    this.#tags.set(item.accountId, tag)
    this.#entries.push({ item, tag })
  }

  shift(): T | undefined {
    let next = this.#entries[0]
    for (const entry of this.#entries) if (next && entry.tag < next.tag) next = entry
    if (!next) return undefined
    this.#time += 1 / new Set(this.#entries.map(({ item }) => item.accountId)).size
    this.delete(next.item)
    return next.item
  }

  /** False when it was not there. */
  delete(item: T): boolean {
    const index = this.#entries.findIndex((entry) => entry.item === item)
    if (index === -1) return false
    this.#entries.splice(index, 1)
    for (const [accountId, tag] of this.#tags)
      if (tag + 1 <= this.#time) this.#tags.delete(accountId)
    return true
  }

  /** Empties it. */
  clear(): T[] {
    const { items } = this
    this.#entries = []
    this.#tags.clear()
    return items
  }
}
