import { AppError } from "../../domain/app-error.ts"
import type { Client } from "../../domain/runs/runner.ts"
import type { RunnerLimits } from "./runner-limits.ts"

type TurnstileLimits = Pick<
  RunnerLimits,
  "runsPerValMax" | "runsPerAccountMax" | "runsAtOnceOf" | "runsWaitingMax" | "waitMsMax"
>

interface Waiter {
  readonly valId: string
  readonly accountId: string
  readonly sinceMs: number
  readonly enter: () => void
  readonly refuse: (error: unknown) => void
}

/** Of the places to wait, what one account may hold. */
const accountShare = 4

/**
 * Counts the runs of each val and each account, and lets those beyond the limits wait for their
 * turn.
 */
export class RunLimiter {
  readonly #limits: TurnstileLimits
  readonly #perVal = new Map<string, Count>()
  readonly #perAccount = new Map<string, Count>()
  readonly #waitingPerAccount = new Map<string, number>()
  #waiting: Waiter[] = []
  #inside = 0

  constructor(limits: TurnstileLimits) {
    this.#limits = limits
  }

  get active(): number {
    return this.#inside
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Undefined when the run may go on at once. Fails with `too_many_runs`. */
  acquire(valId: string, accountId: string, client?: Client): Promise<void> | undefined {
    if (this.#enter(valId, accountId)) return undefined
    return this.#wait(valId, accountId, client?.signal)
  }

  release(valId: string, accountId: string): void {
    this.#inside--
    leave(this.#perVal, valId)
    leave(this.#perAccount, accountId)
    if (this.#waiting.length > 0) this.#admit()
  }

  /** Refuses those who have waited too long. */
  sweep(nowMs: number): void {
    const late = this.#waiting.filter((waiter) => nowMs - waiter.sinceMs > this.#limits.waitMsMax)
    for (const waiter of late) this.#drop(waiter, tooMany("it waited too long for others to end"))
  }

  stop(): void {
    for (const waiter of [...this.#waiting])
      this.#drop(waiter, new AppError("overloaded", "Cannot run the val: the server is stopping"))
  }

  #wait(valId: string, accountId: string, signal: AbortSignal | undefined): Promise<void> {
    const { runsWaitingMax } = this.#limits
    const ofAccount = this.#waitingPerAccount.get(accountId) ?? 0
    if (
      this.#waiting.length >= runsWaitingMax ||
      ofAccount >= Math.ceil(runsWaitingMax / accountShare)
    )
      throw tooMany("as many as may wait are waiting already")
    return new Promise((enter, refuse) => {
      const waiter = { valId, accountId, sinceMs: performance.now(), enter, refuse }
      this.#waiting.push(waiter)
      this.#waitingPerAccount.set(accountId, ofAccount + 1)
      signal?.addEventListener("abort", () => this.#drop(waiter, signal.reason), { once: true })
    })
  }

  #admit(): void {
    for (const waiter of [...this.#waiting]) {
      if (!this.#enter(waiter.valId, waiter.accountId)) continue
      this.#forget(waiter)
      waiter.enter()
      return
    }
  }

  #drop(waiter: Waiter, error: unknown): void {
    if (this.#forget(waiter)) waiter.refuse(error)
  }

  #forget(waiter: Waiter): boolean {
    const index = this.#waiting.indexOf(waiter)
    if (index === -1) return false
    this.#waiting.splice(index, 1)
    add(this.#waitingPerAccount, waiter.accountId, -1)
    return true
  }

  #enter(valId: string, accountId: string): boolean {
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
    this.#inside++
    return true
  }
}

/** An object, so that counting means one look into the map and not two. */
interface Count {
  runs: number
}

function leave(counts: Map<string, Count>, key: string): void {
  const count = counts.get(key)
  if (count && --count.runs === 0) counts.delete(key)
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

function tooMany(reason: string): AppError {
  return new AppError(
    "too_many_runs",
    `Cannot run the val: too many of its runs, or of its account's, go on at once, and ${reason}`,
  )
}
