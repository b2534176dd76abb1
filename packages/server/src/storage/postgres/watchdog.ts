/** A query with a deadline. */
export interface Watched {
  readonly deadline: number
  onOverdue(): void
}

/**
 * Detects results that never arrive. The time-outs of the server do not help when the server or the
 * network no longer responds. One timer checks all queries: a timer for each query costs a tenth of
 * the throughput.
 */
export class PostgresWatchdog {
  readonly #watched = new Set<Watched>()
  readonly #timer: ReturnType<typeof setInterval>

  constructor(intervalMs: number) {
    this.#timer = setInterval(() => this.#check(), intervalMs)
    this.#timer.unref()
  }

  get watching(): number {
    return this.#watched.size
  }

  watch(watched: Watched): void {
    this.#watched.add(watched)
  }

  unwatch(watched: Watched): void {
    this.#watched.delete(watched)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    const now = performance.now()
    for (const watched of this.#watched) {
      if (watched.deadline > now) continue
      this.#watched.delete(watched)
      watched.onOverdue()
    }
  }
}
