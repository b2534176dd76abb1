import { AppError } from "../../domain/app-error.ts"
import type { Client } from "../../domain/runs/runner.ts"
import type { RunnerLimits } from "./runner-limits.ts"

type RunLimiterLimits = Pick<
  RunnerLimits,
  "runsPerValMax" | "runsPerAccountMax" | "runsAtOnceOf" | "runsWaitingMax" | "waitMsMax"
>

interface Waiter {
  readonly valId: string
  readonly accountId: string
  readonly sinceMs: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** One account may hold a quarter of the queue. */
const accountShare = 4

/** Counts the runs of each val and each account. Runs beyond the limits wait. */
export class RunLimiter {
  readonly #limits: RunLimiterLimits
  readonly #perVal = new Map<string, Count>()
  readonly #perAccount = new Map<string, Count>()
  readonly #waitingPerAccount = new Map<string, number>()
  #waiting: Waiter[] = []
  #active = 0

  constructor(limits: RunLimiterLimits) {
    this.#limits = limits
  }

  get active(): number {
    return this.#active
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Undefined when the run may start at once. Fails with `too_many_runs`. */
  acquire(valId: string, accountId: string, client?: Client): Promise<void> | undefined {
    if (this.#tryAcquire(valId, accountId)) return undefined
    return this.#wait(valId, accountId, client?.signal)
  }

  release(valId: string, accountId: string): void {
    this.#active--
    decrement(this.#perVal, valId)
    decrement(this.#perAccount, accountId)
    if (this.#waiting.length > 0) this.#startNext()
  }

  /** Rejects the runs that have waited too long. */
  sweep(nowMs: number): void {
    const late = this.#waiting.filter((waiter) => nowMs - waiter.sinceMs > this.#limits.waitMsMax)
    for (const waiter of late) this.#reject(waiter, tooMany("it waited too long for others to end"))
  }

  stop(): void {
    for (const waiter of [...this.#waiting])
      this.#reject(waiter, new AppError("overloaded", "Cannot run the val: the server is stopping"))
  }

  #wait(valId: string, accountId: string, signal: AbortSignal | undefined): Promise<void> {
    const { runsWaitingMax } = this.#limits
    const ofAccount = this.#waitingPerAccount.get(accountId) ?? 0
    if (
      this.#waiting.length >= runsWaitingMax ||
      ofAccount >= Math.ceil(runsWaitingMax / accountShare)
    )
      throw tooMany("the queue is full")
    return new Promise((resolve, reject) => {
      const waiter = { valId, accountId, sinceMs: performance.now(), resolve, reject }
      this.#waiting.push(waiter)
      this.#waitingPerAccount.set(accountId, ofAccount + 1)
      signal?.addEventListener("abort", () => this.#reject(waiter, signal.reason), { once: true })
    })
  }

  #startNext(): void {
    for (const waiter of [...this.#waiting]) {
      if (!this.#tryAcquire(waiter.valId, waiter.accountId)) continue
      this.#delete(waiter)
      waiter.resolve()
      return
    }
  }

  #reject(waiter: Waiter, error: unknown): void {
    if (this.#delete(waiter)) waiter.reject(error)
  }

  #delete(waiter: Waiter): boolean {
    const index = this.#waiting.indexOf(waiter)
    if (index === -1) return false
    this.#waiting.splice(index, 1)
    const ofAccount = (this.#waitingPerAccount.get(waiter.accountId) ?? 0) - 1
    if (ofAccount > 0) this.#waitingPerAccount.set(waiter.accountId, ofAccount)
    else this.#waitingPerAccount.delete(waiter.accountId)
    return true
  }

  #tryAcquire(valId: string, accountId: string): boolean {
    const ofVal = this.#perVal.get(valId)
    const ofAccount = this.#perAccount.get(accountId)
    const { runsPerValMax, runsAtOnceOf } = this.#limits
    const runsPerAccountMax = runsAtOnceOf?.(accountId) ?? this.#limits.runsPerAccountMax
    if ((ofVal?.runs ?? 0) >= runsPerValMax || (ofAccount?.runs ?? 0) >= runsPerAccountMax)
      return false
    if (ofVal) ofVal.runs++
    else this.#perVal.set(valId, { runs: 1 })
    if (ofAccount) ofAccount.runs++
    else this.#perAccount.set(accountId, { runs: 1 })
    this.#active++
    return true
  }
}

/** An object, so that counting takes one lookup in the map, not two. */
interface Count {
  runs: number
}

function decrement(counts: Map<string, Count>, key: string): void {
  const count = counts.get(key)
  if (count && --count.runs === 0) counts.delete(key)
}

function tooMany(reason: string): AppError {
  return new AppError(
    "too_many_runs",
    `Cannot run the val: it or its account has too many runs at once, and ${reason}`,
  )
}
