import { alone, FairQueue, Refused, runsAtOnce, SharedSlots, type Sharing } from "@hamlet/kit"
import type { Client } from "../program/runner.ts"
import type { RunnerLimits } from "./runner-limits.ts"

/**
 * Counts the runs of each group of programs on this node, and those of each account on all nodes. Runs
 * beyond the limits wait: accounts take turns.
 */
export class RunLimiter {
  readonly #limits: RunnerLimits
  readonly #perGroup = new Map<string, Count>()
  readonly #perAccount: SharedSlots
  /** The programs of the runs that wait, by account. */
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
  acquire(group: string, accountId: string, client?: Client): Promise<void> | undefined {
    if (this.#tryAcquire(group, accountId)) return undefined
    const waiter = this.#queue.add(accountId, group, { signal: client?.signal })
    if (!waiter) throw tooMany("the queue is full")
    return waiter.promise
  }

  release(group: string, accountId: string): void {
    this.#active--
    const ofGroup = this.#perGroup.get(group)
    if (ofGroup && --ofGroup.runs === 0) this.#perGroup.delete(group)
    this.#perAccount.close(accountId)
    if (this.#queue.size > 0) this.#startNext()
  }

  stop(): void {
    for (const { reject } of this.#queue.clear())
      reject(new Refused("overloaded", "Cannot run the program: the server is stopping"))
  }

  #startNext(): boolean {
    const next = this.#queue.next(
      (accountId) => this.#perAccount.hasRoom(accountId),
      (group, accountId) => this.#tryAcquire(group, accountId),
    )
    next?.resolve()
    return next !== undefined
  }

  #tryAcquire(group: string, accountId: string): boolean {
    const ofGroup = this.#perGroup.get(group)
    if ((ofGroup?.runs ?? 0) >= this.#limits.runsPerGroupMax) return false
    if (!this.#perAccount.tryOpen(accountId)) return false
    if (ofGroup) ofGroup.runs++
    else this.#perGroup.set(group, { runs: 1 })
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
    `Cannot run the program: it or its account has too many runs at once, and ${reason}`,
  )
}
