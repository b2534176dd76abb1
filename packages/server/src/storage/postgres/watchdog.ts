/** What a silent server must not hold up for ever. */
export interface Watched {
  readonly deadline: number
  onOverdue(): void
}

/**
 * Notices answers that never come. The server's own time-outs do not help when the server, or the
 * network on the way, has fallen silent. One timer looks after all of them: a timer for each query
 * costs a tenth of the throughput.
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
