import { detachWork, FairQueue, Refused } from "@hamlet/kit"
import type { ExpectedStart, SavedText } from "../program/runner.ts"
import type { Sandbox } from "../sandboxes/sandbox.ts"
import { Demand, type Peak } from "./demand.ts"
import type { RunnerLimits } from "./runner-limits.ts"

/** Where the processes of a pool come from. */
export interface PoolSource {
  /** `isAwaited`: a run waits for it, so it starts with normal priority and without warming up. */
  launch(isAwaited: boolean): Promise<Sandbox>
  /** Gives normal priority to the processes that are starting: a run waits for one. */
  hurry(): void
  /**
   * Called when processes cannot be started, again when the reason changes, and with undefined when
   * they can be started again.
   */
  onAvailability(problem: string | undefined): void
}

/** Where the processes of programs come from. */
export interface SandboxSource extends PoolSource {
  /** The isolation level in force. */
  isolation(): string
  /** Transpiles texts that were saved. */
  transpile?(ownerId: string, texts: readonly SavedText[]): void
}

const retryMs = 1_000
const refillDelayMs = 25
/** The least time between two reports of different reasons why processes cannot be started. */
const reportMs = 60_000
/** The most of the pool that is left for accounts other than the one that takes most. */
const reservedShare = 0.25

/**
 * Processes that are started before a run needs them: the first run of a program finds a warm one. The
 * pool keeps as many as its memory of the demand predicts, so that a second burst of the same size
 * finds all processes ready, soon after the first or at the same time of another hour or day. After quiet
 * minutes it keeps fewer.
 */
export class Pool {
  readonly #source: PoolSource
  readonly #limits: RunnerLimits
  readonly #hasRoom: () => boolean
  readonly #now: () => number
  readonly #demand: Demand
  #ready: Sandbox[] = []
  readonly #queue: FairQueue<undefined, Sandbox>
  #launching = 0
  /** Taken, but not yet bound to a program: until then nothing else counts them. */
  #unbound = 0
  #retryAtMs = 0
  #problem: string | undefined
  #reportAtMs = 0
  #isStopped = false
  #refilling: Timer | undefined

  /** `hasRoom`: whether the budget of the server has room for one more process. */
  constructor(
    source: PoolSource,
    limits: RunnerLimits,
    hasRoom: () => boolean,
    now = () => performance.now(),
  ) {
    this.#source = source
    this.#limits = limits
    this.#hasRoom = hasRoom
    this.#now = now
    this.#demand = new Demand(limits.readyMax)
    const { waitMsMax } = limits
    this.#queue = new FairQueue({ waitMsMax }, ({ reject }) =>
      reject(overloaded("no process became free for it in time")),
    )
  }

  /** Processes that are starting, ready, or taken and not yet bound. */
  get size(): number {
    return this.#ready.length + this.#launching + this.#unbound
  }

  get ready(): number {
    return this.#ready.length
  }

  /** Why no process can be started, if none can. */
  get problem(): string | undefined {
    return this.#problem
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** Whether a run of another account waits for a process. */
  isAwaitedBeside(accountId: string): boolean {
    return this.#queue.keys.some((key) => key !== accountId)
  }

  /**
   * A warm process. It belongs to the caller and never comes back. The caller calls `noteBound` when
   * the process has a program, or has ended.
   */
  async take(accountId: string): Promise<Sandbox> {
    if (this.#isStopped) throw overloaded("the server is stopping")
    const taken = this.#demand.noteTaken(accountId, this.#now())
    const { count, others } = this.#findTarget()
    const reserved = taken > count - others ? others : 0
    // The oldest: a guest that has waited has prepared for packages meanwhile.
    const sandbox = this.#ready.length > reserved ? this.#ready.shift() : undefined
    if (sandbox) {
      this.#unbound++
      this.#refillSoon()
      return sandbox
    }
    const waiter = this.#queue.add(accountId, undefined)
    if (!waiter) throw overloaded("too many runs wait for a process")
    this.#source.hurry()
    this.refill()
    return await waiter.promise
  }

  noteBound(): void {
    this.#unbound--
  }

  /** The last process went to a program that only burns CPU: it does not count as demand. */
  uncountLastTake(): void {
    this.#demand.uncountLast()
  }

  /** Programs that will be started at known times; replaces those that were expected before. */
  expect(starts: readonly ExpectedStart[]): void {
    this.#demand.expect(starts, this.#now())
  }

  /** Starts the missing processes, a few at a time: more would slow down each other. */
  refill(): void {
    const missing = () =>
      Math.max(
        this.#countMissingTrial(),
        this.#queue.size + this.#findTarget().count - this.#ready.length - this.#launching,
      )
    while (
      !this.#isStopped &&
      this.#launching < this.#limits.launchesMax &&
      missing() > 0 &&
      this.#now() >= this.#retryAtMs
    ) {
      if (!this.#hasRoom()) return
      this.#launching++
      // Whatever asks for it first: the process and its sockets serve others too.
      void detachWork(() => this.#launch())
    }
  }

  /** After a failure, one process is started to see if it works again, even if none is needed. */
  #countMissingTrial(): number {
    return this.#problem !== undefined && this.#launching === 0 ? 1 : 0
  }

  /**
   * Later, because starting a process takes more CPU than the first response of a program. A sweep
   * waits for it too.
   */
  #refillSoon(): void {
    this.#refilling ??= setTimeout(() => {
      this.#refilling = undefined
      this.refill()
    }, refillDelayMs)
  }

  /** Ends processes that are not needed any more. */
  sweep(): void {
    if (this.#ready.length > this.#findTarget().count) void this.#ready.pop()?.stop()
    if (this.#refilling === undefined) this.refill()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#refilling)
    for (const { reject } of this.#queue.clear()) reject(overloaded("the server is stopping"))
    await Promise.all(this.#ready.splice(0).map((sandbox) => sandbox.stop()))
  }

  async #launch(): Promise<void> {
    try {
      const sandbox = await this.#source.launch(this.#queue.size > 0)
      this.#launching--
      this.#noteAvailability(undefined)
      this.#offer(sandbox)
    } catch (error) {
      this.#launching--
      if (this.#isStopped) return
      // With a pause: without one, a broken machine would do nothing else.
      this.#retryAtMs = this.#now() + retryMs
      this.#noteAvailability(error instanceof Error ? error.message : String(error))
      if (this.#launching === 0) this.#rejectAll(error)
      return
    }
    this.refill()
  }

  #noteAvailability(problem: string | undefined): void {
    const [before, nowMs] = [this.#problem, this.#now()]
    this.#problem = problem
    // Concurrent attempts may fail for different reasons, which alternate.
    if (
      problem === before ||
      (problem !== undefined && before !== undefined && nowMs < this.#reportAtMs)
    )
      return
    this.#reportAtMs = nowMs + reportMs
    this.#source.onAvailability(problem)
  }

  #offer(sandbox: Sandbox): void {
    if (this.#isStopped) {
      void sandbox.stop()
      return
    }
    const waiter = this.#queue.next()
    if (waiter) {
      this.#unbound++
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

  #rejectAll(cause: unknown): void {
    for (const { reject } of this.#queue.clear())
      reject(
        new Refused(
          "sandbox_unavailable",
          "Cannot run the program: no process can be started for it at the moment",
          { cause },
        ),
      )
  }

  /** How many processes to keep ready, and how many of them one account leaves for others. */
  #findTarget(): Peak {
    const { readyMin, readyMax } = this.#limits
    const peak = this.#demand.predict(this.#now())
    const count = Math.min(readyMax, Math.max(readyMin, peak.count))
    return { count, others: Math.min(peak.others, Math.floor(count * reservedShare)) }
  }
}

function overloaded(reason: string): Refused {
  return new Refused("overloaded", `Cannot run the program: ${reason}`)
}
