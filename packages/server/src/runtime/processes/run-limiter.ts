import { AppError } from "../../domain/app-error.ts"
import type { Client } from "../../domain/runs/runner.ts"
import { FairQueue } from "../../shared/fair-queue.ts"
import type { RunnerLimits } from "./runner-limits.ts"

/** Counts the runs of each val and each account. Runs beyond the limits wait: accounts take turns. */
export class RunLimiter {
  readonly #limits: RunnerLimits
  readonly #perVal = new Map<string, Count>()
  readonly #perAccount = new Map<string, Count>()
  /** The vals of the runs that wait, by account. */
  readonly #queue: FairQueue<string>
  #active = 0

  constructor(limits: RunnerLimits) {
    this.#limits = limits
    const { runsWaitingMax: waitingMax, waitMsMax } = limits
    this.#queue = new FairQueue({ waitingMax, waitMsMax }, ({ reject }) =>
      reject(tooMany("it waited too long for others to end")),
    )
  }

  get active(): number {
    return this.#active
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** Undefined when the run may start at once. Fails with `too_many_runs`. */
  acquire(valId: string, accountId: string, client?: Client): Promise<void> | undefined {
    if (this.#tryAcquire(valId, accountId)) return undefined
    const waiter = this.#queue.add(accountId, valId, { signal: client?.signal })
    if (!waiter) throw tooMany("the queue is full")
    return waiter.promise
  }

  release(valId: string, accountId: string): void {
    this.#active--
    decrement(this.#perVal, valId)
    decrement(this.#perAccount, accountId)
    if (this.#queue.size > 0) this.#startNext()
  }

  stop(): void {
    for (const { reject } of this.#queue.clear())
      reject(new AppError("overloaded", "Cannot run the val: the server is stopping"))
  }

  #startNext(): void {
    const next = this.#queue.next(
      (accountId) => this.#hasRoom(accountId),
      (valId, accountId) => this.#tryAcquire(valId, accountId),
    )
    next?.resolve()
  }

  #hasRoom(accountId: string, ofAccount = this.#perAccount.get(accountId)): boolean {
    const runsMax = this.#limits.runsAtOnceOf?.(accountId) ?? this.#limits.runsPerAccountMax
    return (ofAccount?.runs ?? 0) < runsMax
  }

  #tryAcquire(valId: string, accountId: string): boolean {
    const ofVal = this.#perVal.get(valId)
    const ofAccount = this.#perAccount.get(accountId)
    if ((ofVal?.runs ?? 0) >= this.#limits.runsPerValMax) return false
    if (!this.#hasRoom(accountId, ofAccount)) return false
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
