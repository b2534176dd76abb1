import type { SandboxLimits } from "../sandbox-limits.ts"

/** What the watchdog checks. */
export interface CheckedSandbox {
  /** Ends the sandbox if it exceeds a limit. */
  check(): void
}

/** One timer that checks all sandboxes whose limits the kernel does not enforce. */
export class Watchdog {
  readonly #limits: SandboxLimits
  /** In the order of the next checks. */
  readonly #watched = new Set<CheckedSandbox>()
  #timer: Timer | undefined

  constructor(limits: SandboxLimits) {
    this.#limits = limits
  }

  add(watched: CheckedSandbox): void {
    this.#watched.add(watched)
    this.#timer ??= setInterval(() => this.#check(), this.#limits.watchMs).unref()
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

  #check(): void {
    for (const watched of [...this.#watched].slice(0, this.#limits.watchedMax)) {
      this.#watched.delete(watched)
      this.#watched.add(watched)
      watched.check()
    }
  }
}
