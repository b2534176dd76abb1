/**
 * A queue in which keys take turns, so that a key with many items keeps the others waiting for one
 * item at a time.
 */
export class FairQueue<Item> {
  readonly #sizeMax: number
  readonly #queues = new Map<string, Item[]>()
  size = 0

  /** One key may hold a quarter of the places. */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  /** False when there is no place. */
  add(key: string, item: Item): boolean {
    const queue = this.#queues.get(key) ?? []
    if (this.size >= this.#sizeMax || queue.length >= Math.ceil(this.#sizeMax / 4)) return false
    queue.push(item)
    this.#queues.set(key, queue)
    this.size += 1
    return true
  }

  take(): Item | undefined {
    for (const [key, queue] of this.#queues) {
      const item = queue.shift()
      // The key goes to the end of the line.
      this.#queues.delete(key)
      if (queue.length > 0) this.#queues.set(key, queue)
      this.size -= 1
      return item
    }
    return undefined
  }
}
