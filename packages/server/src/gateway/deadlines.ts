/** Something that must not go on for ever. */
export interface Overseen {
  /** Looked at now and then; true once there is nothing more to oversee. */
  check(nowMs: number): boolean
}

/**
 * Looks after everything that takes longer than a moment. There may be thousands at once, none of
 * which needs to be ended to the millisecond: one timer for all of them, and none while there is
 * nothing to do.
 */
export class Deadlines {
  readonly #overseen = new Set<Overseen>()
  readonly #sweepMs: number
  #timer: Timer | undefined

  constructor(sweepMs: number) {
    this.#sweepMs = sweepMs
  }

  get size(): number {
    return this.#overseen.size
  }

  add(overseen: Overseen): void {
    this.#overseen.add(overseen)
    this.#timer ??= setInterval(() => this.#sweep(), this.#sweepMs).unref()
  }

  remove(overseen: Overseen): void {
    this.#overseen.delete(overseen)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #sweep(): void {
    const nowMs = performance.now()
    for (const overseen of this.#overseen)
      if (overseen.check(nowMs)) this.#overseen.delete(overseen)
    if (this.#overseen.size === 0) this.stop()
  }
}
