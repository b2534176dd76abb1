import { AsyncLocalStorage } from "node:async_hooks"

/** The work of a loop. */
export interface LoopOptions {
  /** One round. Returns how long nothing will be due; the loop sleeps for at most `pollMs`. */
  round(): Promise<void> | Promise<number>
  /** Without it there is a round only when the loop is woken, and it needs no start. */
  readonly pollMs?: number
  /** How long the loop sleeps after a round that failed; `pollMs` by default. */
  readonly failedMs?: number
  /** `step` is the step that failed; undefined for the round itself. */
  onError(error: unknown, step?: string): void
}

/**
 * The loop of all background work: one round at a time, when it is woken and whenever it has slept.
 *
 *   asleep ──(wake, or it has slept)──▶ round ──▶ asleep, or another round if it was woken meanwhile
 *
 * An error is reported once, until a round ends without it: in an outage every round has the same.
 */
export class Loop {
  readonly #options: LoopOptions
  /** A round serves more than the request that wakes the loop, whose call depth it must not have. */
  readonly #runOutside = AsyncLocalStorage.snapshot()
  readonly #stopped = Promise.withResolvers<void>()
  #state: "new" | "asleep" | "awake" | "stopped"
  #isWoken = false
  #timer: Timer | undefined
  /** When the timer wakes the loop, or after the round that goes on. */
  #wakesAtMs = Number.POSITIVE_INFINITY
  #failedUntilMs = 0
  #rounds: Promise<void> = Promise.resolve()
  /** The errors since the last round ended, and those until then. */
  #errors = new Set<string>()
  #errorsBefore: ReadonlySet<string> = new Set()

  constructor(options: LoopOptions) {
    this.#options = options
    this.#state = options.pollMs === undefined ? "asleep" : "new"
  }

  get isStopped(): boolean {
    return this.#state === "stopped"
  }

  /** The first round begins at once, or after a delay. Before `start`, `wake` has no effect. */
  start(delayMs?: number): void {
    if (this.#state !== "new") return
    this.#state = "asleep"
    if (delayMs === undefined) this.wake()
    else this.#sleep(delayMs)
  }

  /** Begins a round now, or after the one that goes on. */
  wake(): void {
    this.#isWoken = true
    if (this.#state !== "asleep") return
    clearTimeout(this.#timer)
    this.#state = "awake"
    this.#rounds = this.#runOutside(() => this.#run())
  }

  /** Begins a round after a delay, unless one begins sooner. After a failed round it sleeps on. */
  wakeIn(delayMs: number): void {
    const now = performance.now()
    const atMs = Math.max(now + delayMs, this.#failedUntilMs)
    if (atMs >= this.#wakesAtMs) return
    if (this.#state === "asleep") this.#sleep(atMs - now)
    else this.#wakesAtMs = atMs
  }

  /** Begins no more rounds, and waits for the one that goes on. */
  async stop(): Promise<void> {
    this.#state = "stopped"
    clearTimeout(this.#timer)
    this.#stopped.resolve()
    await this.#rounds
  }

  /** A pause within a round, which `stop` ends. */
  async rest(ms: number): Promise<void> {
    if (this.isStopped) return
    const rested = Promise.withResolvers<void>()
    const timer = setTimeout(rested.resolve, ms)
    await Promise.race([rested.promise, this.#stopped.promise])
    clearTimeout(timer)
  }

  /**
   * A step of a round, which the log names when it fails. The steps behind it go on. After `stop` it
   * does nothing.
   */
  async attempt<Result>(name: string, step: () => Promise<Result>): Promise<Result | undefined> {
    if (this.isStopped) return undefined
    try {
      return await step()
    } catch (error) {
      this.report(error, name)
      return undefined
    }
  }

  /** Reports an error, unless it is already known. In an outage all steps have the same. */
  report(error: unknown, step?: string): void {
    const text = String(error)
    const isKnown = this.#errors.has(text) || this.#errorsBefore.has(text)
    this.#errors.add(text)
    if (!isKnown) this.#options.onError(error, step)
  }

  async #run(): Promise<void> {
    while (!this.isStopped) {
      this.#isWoken = false
      this.#wakesAtMs = Number.POSITIVE_INFINITY
      const sleepMs = await this.#round()
      // Only here: `wakeIn` may have been called since the round ended.
      if (!this.#isWoken) return this.#sleep(Math.min(sleepMs, this.#msUntilWake()))
    }
  }

  async #round(): Promise<number> {
    const { round, pollMs = Infinity, failedMs = pollMs } = this.#options
    try {
      return Math.min((await round()) ?? pollMs, pollMs)
    } catch (error) {
      this.report(error)
      // Whatever has woken the loop: the next round would fail too.
      this.#isWoken = false
      // A loop that has neither time sleeps until it is woken, as after any round.
      if (failedMs < Number.POSITIVE_INFINITY) this.#failedUntilMs = performance.now() + failedMs
      return failedMs
    } finally {
      this.#errorsBefore = this.#errors
      this.#errors = new Set()
    }
  }

  #msUntilWake(): number {
    return Math.max(0, Math.max(this.#wakesAtMs, this.#failedUntilMs) - performance.now())
  }

  #sleep(ms: number): void {
    if (this.isStopped) return
    this.#state = "asleep"
    clearTimeout(this.#timer)
    this.#wakesAtMs = performance.now() + ms
    // What is overdue begins now: a timer with a negative time writes a warning to standard error.
    if (ms < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.wake(), Math.max(0, ms))
  }
}
