/** Runs a limited number of actions at once. Others wait, first come, first served. */
export class ConcurrencyLimit {
  readonly #atOnceMax: number
  readonly #waiting = new Set<() => void>()
  readonly #running = new Set<Promise<unknown>>()

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax
  }

  /** Rejects with the reason of the signal when it aborts before the action starts. */
  async run<Result>(signal: AbortSignal, act: () => Promise<Result>): Promise<Result> {
    while (this.#running.size >= this.#atOnceMax) await this.#wait(signal)
    signal.throwIfAborted()
    const running = act()
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
      const [next] = this.#waiting
      next?.()
    }
  }

  /** Resolves when no action runs. */
  async whenIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  #wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        this.#waiting.delete(start)
        signal.removeEventListener("abort", cancel)
        act()
      }
      const start = () => settle(resolve)
      const cancel = () => settle(() => reject(signal.reason))
      this.#waiting.add(start)
      signal.addEventListener("abort", cancel, { once: true })
    })
  }
}
