import { FairQueue, Refused } from "@hamlet/kit"
import type { RunnerLimits } from "./runner-limits.ts"

/**
 * An account that has no process at work waits this long. Then a process of the account with the
 * most processes is ended for it.
 */
const patienceMs = 1_000

/** Why a process at work was ended: to free memory for other accounts. */
export const memoryUsedUp =
  "the memory that the server has for programs was used up, and the account used the most of it"
/** Why a process at work was ended: so that another account can have one. */
export const processesUsedUp =
  "all processes that the server has for programs were at work, and the account had the most of them"

/** What the processes at work use. */
interface Use {
  processes: number
  bytes: number
}

/**
 * Shares the processes at work, and their memory, between accounts. A process is at work while it
 * has a run. A process without a run can be ended at any time and does not count.
 *
 * An account may have another process only while it holds at most `multiple` times of what is still
 * free. The more accounts compete, the less each gets, and the last processes are left for accounts
 * that have none. When those are in use too, the account with the most has to give one up.
 */
export class ProcessShares {
  readonly #limits: RunnerLimits
  /** How much one account may hold, as a multiple of what is free. */
  readonly #multiple: number
  readonly #uses = new Map<string, Use>()
  readonly #total: Use = { processes: 0, bytes: 0 }
  readonly #queue: FairQueue

  constructor(limits: RunnerLimits) {
    const { processesMax, processesPerAccountMax, shareWaitMsMax: waitMsMax } = limits
    this.#limits = limits
    this.#queue = new FairQueue({ waitMsMax }, ({ reject }) => reject(this.#toTimeoutError()))
    this.#multiple = processesPerAccountMax / Math.max(0, processesMax - processesPerAccountMax)
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** The number of processes of the account that are at work. */
  countOf(accountId: string): number {
    return this.#uses.get(accountId)?.processes ?? 0
  }

  /** Takes a share for one more process. Returns false when the account may not have it now. */
  tryAcquire(accountId: string): boolean {
    if (!this.#canAcquire(accountId)) return false
    const use = this.#uses.get(accountId)
    if (use) use.processes++
    else this.#uses.set(accountId, { processes: 1, bytes: 0 })
    this.#total.processes++
    return true
  }

  /**
   * Waits for a share. Fails with `too_many_runs`, or with `overloaded` when all processes of the
   * server are at work.
   */
  async acquire(accountId: string): Promise<void> {
    if (this.tryAcquire(accountId)) return
    const waiter = this.#queue.add(accountId, undefined)
    if (!waiter) throw this.#toTimeoutError()
    await waiter.promise
  }

  /** A process of the account is no longer at work. */
  release(accountId: string): void {
    const use = this.#uses.get(accountId)
    if (!use) return
    this.#total.processes--
    if (--use.processes === 0) this.#uses.delete(accountId)
    if (this.#queue.size > 0) this.#startWaiting()
  }

  /** Updates the memory that the processes at work of each account use. */
  noteMemory(bytesOf: ReadonlyMap<string, number>): void {
    this.#total.bytes = 0
    for (const [accountId, use] of this.#uses) {
      use.bytes = bytesOf.get(accountId) ?? 0
      this.#total.bytes += use.bytes
    }
    if (this.#queue.size > 0) this.#startWaiting()
  }

  /**
   * The account that has to give up a process, because another account has none at work and has
   * waited for `patienceMs`.
   */
  findAccountToReduce(nowMs: number): string | undefined {
    const isDue = this.#queue.waiters.some(
      ({ key: accountId, sinceMs }) => !this.#uses.has(accountId) && nowMs - sinceMs >= patienceMs,
    )
    if (!isDue) return undefined
    let largest: string | undefined
    for (const [accountId, { processes }] of this.#uses)
      if (processes > 1 && processes > (largest === undefined ? 0 : this.countOf(largest)))
        largest = accountId
    return largest
  }

  stop(): void {
    for (const { reject } of this.#queue.clear())
      reject(new Refused("overloaded", "Cannot run the program: the server is stopping"))
  }

  #toTimeoutError(): Refused {
    if (this.#total.processes >= this.#limits.processesMax)
      return new Refused(
        "overloaded",
        "Cannot run the program: no process became free for it in time",
      )
    return new Refused(
      "too_many_runs",
      "Cannot run the program: its account has as many processes at work as its share allows",
    )
  }

  #canAcquire(accountId: string): boolean {
    const { processesMax, memoryBytesMax } = this.#limits
    const left = processesMax - this.#total.processes - 1
    if (left < 0) return false
    const use = this.#uses.get(accountId)
    if (!use || this.#multiple === Number.POSITIVE_INFINITY) return true
    return (
      use.processes + 1 <= this.#multiple * left &&
      use.bytes <= this.#multiple * (memoryBytesMax - this.#total.bytes)
    )
  }

  /** Gives shares to those that wait, the account with the fewest processes first. */
  #startWaiting(): void {
    for (let accountId = this.#findNext(); accountId !== undefined; accountId = this.#findNext()) {
      this.tryAcquire(accountId)
      this.#queue.next((key) => key === accountId)?.resolve()
    }
  }

  #findNext(): string | undefined {
    let next: string | undefined
    for (const accountId of this.#queue.keys) {
      if (next !== undefined && this.countOf(accountId) >= this.countOf(next)) continue
      if (this.#canAcquire(accountId)) next = accountId
    }
    return next
  }
}
