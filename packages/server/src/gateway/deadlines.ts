/** An operation with a time limit. */
export interface Expirable {
  /** Called once per sweep. Returns true when no further check is needed. */
  check(nowMs: number): boolean
}

/**
 * Checks the time limits of all long operations. There may be thousands of them, and none has to
 * end to the millisecond, so they share one timer. It stops when nothing is left to check.
 */
export class Deadlines {
  readonly #items = new Set<Expirable>()
  readonly #sweepMs: number
  #timer: Timer | undefined

  constructor(sweepMs: number) {
    this.#sweepMs = sweepMs
  }

  get size(): number {
    return this.#items.size
  }

  add(item: Expirable): void {
    this.#items.add(item)
    this.#timer ??= setInterval(() => this.#sweep(), this.#sweepMs).unref()
  }

  remove(item: Expirable): void {
    this.#items.delete(item)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #sweep(): void {
    const nowMs = performance.now()
    for (const item of this.#items) if (item.check(nowMs)) this.#items.delete(item)
    if (this.#items.size === 0) this.stop()
  }
}
