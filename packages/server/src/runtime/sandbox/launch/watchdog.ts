import type { SandboxLimits } from "../sandbox-limits.ts"

/** What the watchdog looks at. */
export interface CheckedSandbox {
  /** Looks once, and ends what takes more than it may. */
  check(): void
}

/** One timer for all sandboxes that the kernel does not limit by itself. */
export class Watchdog {
  readonly #limits: SandboxLimits
  /** In the order in which they are looked at next. */
  readonly #watched = new Set<CheckedSandbox>()
  #timer: Timer | undefined

  constructor(limits: SandboxLimits) {
    this.#limits = limits
  }

  add(watched: CheckedSandbox): void {
    this.#watched.add(watched)
    this.#timer ??= setInterval(() => this.#look(), this.#limits.watchMs).unref()
  }

  delete(watched: CheckedSandbox): void {
    this.#watched.delete(watched)
    if (this.#watched.size === 0) this.stop()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#watched.clear()
  }

  #look(): void {
    for (const watched of [...this.#watched].slice(0, this.#limits.watchedMax)) {
      this.#watched.delete(watched)
      this.#watched.add(watched)
      watched.check()
    }
  }
}
