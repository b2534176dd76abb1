import { AppError } from "../../domain/app-error.ts"
import { FairQueue } from "../../shared/fair-queue.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import type { RunnerLimits } from "./runner-limits.ts"

type PoolLimits = Pick<RunnerLimits, "readyMin" | "readyMax" | "launchesMax" | "waitMsMax">

export interface PoolDeps {
  launch(isAwaited: boolean): Promise<Sandbox>
  /** What is being started is waited for from now on. */
  hurry(): void
  /** Whether the budget of the server has room for one more process. */
  hasRoom(): boolean
  /**
   * Called when processes cannot be started, once, and again if the reason changes, and with
   * nothing when they can again.
   */
  onAvailability(problem: string | undefined): void
  readonly limits: PoolLimits
}

interface Waiter {
  readonly accountId: string
  readonly sinceMs: number
  readonly resolve: (sandbox: Sandbox) => void
  readonly reject: (error: AppError) => void
}

/** How long a burst is remembered, and how finely. */
const demandWindowMs = 300_000
const demandStepMs = 5_000
const retryMs = 1_000
const refillDelayMs = 25
/** How soon it is told that processes cannot be started for yet another reason. */
const tellMs = 60_000

/**
 * Processes that are started before anybody needs them: a val that has never run finds one that is
 * listening and warm. As many are kept as were taken within a few seconds lately, so that the
 * second burst of a size finds everything ready; quiet minutes bring the number down.
 */
export class Pool {
  readonly #deps: PoolDeps
  #ready: Sandbox[] = []
  readonly #waiters = new FairQueue<Waiter>()
  #launching = 0
  /**
   * Those that were taken and are not yet among the processes of vals: while a program is read,
   * nobody else counts them.
   */
  #handed = 0
  #taken: { readonly atMs: number; count: number }[] = []
  #retryAtMs = 0
  #problem: string | undefined
  #tellAtMs = 0
  #isStopped = false
  #refilling: Timer | undefined

  constructor(deps: PoolDeps) {
    this.#deps = deps
  }

  /**
   * Processes that wait for a val, those on their way to that, and those on their way from here.
   */
  get size(): number {
    return this.#ready.length + this.#launching + this.#handed
  }

  get ready(): number {
    return this.#ready.length
  }

  /** Why no process can be started, if none can. */
  get problem(): string | undefined {
    return this.#problem
  }

  get waiting(): number {
    return this.#waiters.size
  }

  /** Whether a process is waited for on another account than this one. */
  isAwaitedBeside(accountId: string): boolean {
    return this.#waiters.keys.some((key) => key !== accountId)
  }

  /**
   * A warm process, which is the caller's from now on and never comes back; `noteBound` when it has
   * a program, or has ended.
   */
  take(accountId: string): Sandbox | Promise<Sandbox> {
    if (this.#isStopped)
      throw new AppError("overloaded", "Cannot run the val: the server is stopping")
    this.#noteTaken()
    const sandbox = this.#ready.pop()
    if (sandbox) {
      this.#handed++
      this.#refillSoon()
      return sandbox
    }
    return new Promise((resolve, reject) => {
      this.#waiters.push(accountId, { accountId, sinceMs: performance.now(), resolve, reject })
      this.#deps.hurry()
      this.refill()
    })
  }

  noteBound(): void {
    this.#handed--
  }

  /** One that was taken just now went to somebody for whom none has to be ready the next time. */
  noteWasted(): void {
    const last = this.#taken.at(-1)
    if (last && last.count > 0) last.count--
  }

  /**
   * Starts what is missing, a few at a time: more at once would only slow each other and the server
   * down.
   */
  refill(): void {
    const missing = () =>
      Math.max(
        this.#missingTrial(),
        this.#waiters.size + this.#target() - this.#ready.length - this.#launching,
      )
    while (
      !this.#isStopped &&
      this.#launching < this.#deps.limits.launchesMax &&
      missing() > 0 &&
      performance.now() >= this.#retryAtMs
    ) {
      if (!this.#deps.hasRoom()) return
      this.#launching++
      void this.#launch()
    }
  }

  /** Whether processes can be started again shows only when one is, also if none is needed. */
  #missingTrial(): number {
    return this.#problem !== undefined && this.#launching === 0 ? 1 : 0
  }

  /**
   * Starting a process takes the machine longer than a first answer does, which therefore goes
   * first.
   */
  #refillSoon(): void {
    this.#refilling ??= setTimeout(() => {
      this.#refilling = undefined
      this.refill()
    }, refillDelayMs)
  }

  /**
   * Called every now and then: refuses those who have waited too long, and gives up what is no
   * longer needed.
   */
  sweep(nowMs: number): void {
    this.#taken = this.#taken.filter(({ atMs }) => nowMs - atMs < demandWindowMs)
    for (const waiter of this.#waiters.items.filter(
      ({ sinceMs }) => nowMs - sinceMs > this.#deps.limits.waitMsMax,
    )) {
      this.#waiters.delete(waiter.accountId, waiter)
      waiter.reject(
        new AppError("overloaded", "Cannot run the val: no process became free for it in time"),
      )
    }
    if (this.#ready.length > this.#target()) void this.#ready.shift()?.stop()
    this.refill()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#refilling)
    for (const waiter of this.#waiters.clear())
      waiter.reject(new AppError("overloaded", "Cannot run the val: the server is stopping"))
    await Promise.all(this.#ready.splice(0).map((sandbox) => sandbox.stop()))
  }

  async #launch(): Promise<void> {
    try {
      const sandbox = await this.#deps.launch(this.#waiters.size > 0)
      this.#launching--
      this.#noteAvailability(undefined)
      this.#offer(sandbox)
    } catch (error) {
      this.#launching--
      if (this.#isStopped) return
      // What has failed will hardly work a moment later: without a pause a broken machine would be
      // busy with nothing else.
      this.#retryAtMs = performance.now() + retryMs
      this.#noteAvailability(error instanceof Error ? error.message : String(error))
      if (this.#launching === 0) this.#refuseAll(error)
      return
    }
    this.refill()
  }

  #noteAvailability(problem: string | undefined): void {
    const [before, nowMs] = [this.#problem, performance.now()]
    this.#problem = problem
    // Several attempts at once may fail for reasons that differ; they are told in turns, but not
    // each time.
    if (
      problem === before ||
      (problem !== undefined && before !== undefined && nowMs < this.#tellAtMs)
    )
      return
    this.#tellAtMs = nowMs + tellMs
    this.#deps.onAvailability(problem)
  }

  #offer(sandbox: Sandbox): void {
    if (this.#isStopped) {
      void sandbox.stop()
      return
    }
    const waiter = this.#waiters.shift()
    if (waiter) {
      this.#handed++
      waiter.resolve(sandbox)
      return
    }
    this.#ready.push(sandbox)
    void sandbox.exited.then(() => {
      const index = this.#ready.indexOf(sandbox)
      if (index === -1) return
      this.#ready.splice(index, 1)
      this.refill()
    })
  }

  #refuseAll(cause: unknown): void {
    for (const waiter of this.#waiters.clear())
      waiter.reject(
        new AppError(
          "sandbox_unavailable",
          "Cannot run the val: no process can be started for it at the moment",
          { cause },
        ),
      )
  }

  #noteTaken(): void {
    const nowMs = performance.now()
    const last = this.#taken.at(-1)
    if (last && nowMs - last.atMs < demandStepMs) last.count++
    else this.#taken.push({ atMs: nowMs, count: 1 })
  }

  #target(): number {
    const { readyMin, readyMax } = this.#deps.limits
    return Math.min(
      readyMax,
      this.#taken.reduce((most, { count }) => Math.max(most, count), readyMin),
    )
  }
}
