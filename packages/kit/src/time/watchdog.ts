/** An operation with limits. */
export interface Watched {
  /** Called once per round. Returns true when no further check is needed. */
  check(nowMs: number): boolean
}

/**
 * Checks the limits of all long operations of a kind. There may be thousands of them, and none has to
 * end to the millisecond, so they share one timer: a timer for each query of PostgreSQL costs a tenth
 * of the throughput. It stops when nothing is left to check.
 */
export class Watchdog {
  /** In the order of the next checks. */
  readonly #watched = new Set<Watched>()
  readonly #roundMs: number
  readonly #atOnceMax: number
  #timer: Timer | undefined

  /** With more than `atOnceMax` operations, each is checked less often. */
  constructor(roundMs: number, atOnceMax = Number.POSITIVE_INFINITY) {
    this.#roundMs = roundMs
    this.#atOnceMax = atOnceMax
  }

  get size(): number {
    return this.#watched.size
  }

  add(watched: Watched): void {
    this.#watched.add(watched)
    this.#timer ??= setInterval(() => this.#check(), this.#roundMs).unref()
  }

  remove(watched: Watched): void {
    this.#watched.delete(watched)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #check(): void {
    const nowMs = performance.now()
    for (const watched of [...this.#watched].slice(0, this.#atOnceMax)) {
      // The check of another one may have removed it.
      if (!this.#watched.delete(watched)) continue
      this.#watched.add(watched)
      if (watched.check(nowMs)) this.#watched.delete(watched)
    }
    if (this.#watched.size === 0) this.stop()
  }
}
