import { alone, FairQueue, Refused, runsAtOnce, SharedSlots, type Sharing } from "@hamlet/kit"
import type { Client } from "../program/runner.ts"
import type { RunnerLimits } from "./runner-limits.ts"

/**
 * Counts the runs of each val on this node, and those of each account on all nodes. Runs beyond the
 * limits wait: accounts take turns.
 */
export class RunLimiter {
  readonly #limits: RunnerLimits
  readonly #perVal = new Map<string, Count>()
  readonly #perAccount: SharedSlots
  /** The vals of the runs that wait, by account. */
  readonly #queue: FairQueue<string>
  #active = 0

  constructor(limits: RunnerLimits, sharing: Sharing = alone) {
    this.#limits = limits
    const { runsWaitingMax: waitingMax, waitMsMax } = limits
    this.#queue = new FairQueue({ waitingMax, waitMsMax }, ({ reject }) =>
      reject(tooMany("it waited too long for others to end")),
    )
    const users = {
      maxOf: (accountId: string) => limits.runsAtOnceOf?.(accountId) ?? limits.runsPerAccountMax,
      waitingOf: (accountId: string) => this.#queue.sizeOf(accountId),
      onRoom: () => {
        while (this.#queue.size > 0 && this.#startNext());
      },
    }
    this.#perAccount = new SharedSlots(runsAtOnce, users, sharing)
  }

  get active(): number {
    return this.#active
  }

  activeOf(accountId: string): number {
    return this.#perAccount.openOf(accountId)
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
    const ofVal = this.#perVal.get(valId)
    if (ofVal && --ofVal.runs === 0) this.#perVal.delete(valId)
    this.#perAccount.close(accountId)
    if (this.#queue.size > 0) this.#startNext()
  }

  stop(): void {
    for (const { reject } of this.#queue.clear())
      reject(new Refused("overloaded", "Cannot run the val: the server is stopping"))
  }

  #startNext(): boolean {
    const next = this.#queue.next(
      (accountId) => this.#perAccount.hasRoom(accountId),
      (valId, accountId) => this.#tryAcquire(valId, accountId),
    )
    next?.resolve()
    return next !== undefined
  }

  #tryAcquire(valId: string, accountId: string): boolean {
    const ofVal = this.#perVal.get(valId)
    if ((ofVal?.runs ?? 0) >= this.#limits.runsPerValMax) return false
    if (!this.#perAccount.tryOpen(accountId)) return false
    if (ofVal) ofVal.runs++
    else this.#perVal.set(valId, { runs: 1 })
    this.#active++
    return true
  }
}

/** An object, so that counting takes one lookup in the map, not two. */
interface Count {
  runs: number
}

function tooMany(reason: string): Refused {
  return new Refused(
    "too_many_runs",
    `Cannot run the val: it or its account has too many runs at once, and ${reason}`,
  )
}
