/** Lets so many go on at once; the others wait for their turn. */
export class ConcurrencyLimit {
  readonly #atOnceMax: number
  readonly #waiting = new Set<() => void>()
  readonly #going = new Set<Promise<unknown>>()

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax
  }

  /** Fails with the reason of the signal when it is aborted before its turn. */
  async run<Result>(signal: AbortSignal, act: () => Promise<Result>): Promise<Result> {
    while (this.#going.size >= this.#atOnceMax) await this.#wait(signal)
    signal.throwIfAborted()
    const going = act()
    this.#going.add(going)
    try {
      return await going
    } finally {
      this.#going.delete(going)
      const [next] = this.#waiting
      next?.()
    }
  }

  /** Resolves when nothing goes on any more. */
  async whenIdle(): Promise<void> {
    while (this.#going.size > 0) await Promise.allSettled(this.#going)
  }

  #wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        this.#waiting.delete(enter)
        signal.removeEventListener("abort", leave)
        act()
      }
      const enter = () => settle(resolve)
      const leave = () => settle(() => reject(signal.reason))
      this.#waiting.add(enter)
      signal.addEventListener("abort", leave, { once: true })
    })
  }
}
