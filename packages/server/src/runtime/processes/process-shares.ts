import { AppError } from "../../domain/app-error.ts"
import type { RunnerLimits } from "./runner-limits.ts"

type ShareLimits = Pick<
  RunnerLimits,
  "processesMax" | "processesPerAccountMax" | "memoryBytesMax" | "shareWaitMsMax"
>

interface Waiter {
  readonly sinceMs: number
  readonly enter: () => void
  readonly refuse: (error: AppError) => void
}

/**
 * How long an account without a process at work waits before one of another account is ended for
 * it.
 */
const patienceMs = 1_000

/** Why a process at work was ended for the sake of others, to free memory. */
export const memoryUsedUp =
  "the memory that the server has for vals was used up, and the val's account used the most of it"
/** The same for one that was ended to free a place. */
export const processesUsedUp =
  "all processes that the server has for vals were at work, and the val's account had the most of them"

/** What the processes of one account that are at work take. */
interface Use {
  processes: number
  bytes: number
}

/**
 * Divides the processes that may be at work, and their memory, between accounts. A process is at
 * work while it has a run; one without can be ended at any moment and counts for nothing.
 *
 * An account may take more only while it holds at most a multiple of what is still free. The more
 * accounts there are, the less each gets, and the last ones are for accounts that have nothing at
 * work yet. When even those are taken, the account with the most has to give one up.
 */
export class ProcessShares {
  readonly #limits: ShareLimits
  /** How many times as much as is free one account may hold. */
  readonly #multiple: number
  readonly #uses = new Map<string, Use>()
  readonly #total: Use = { processes: 0, bytes: 0 }
  /** Those that wait, for each account in the order in which they came. */
  readonly #waiting = new Map<string, Waiter[]>()

  constructor(limits: ShareLimits) {
    const { processesMax, processesPerAccountMax } = limits
    this.#limits = limits
    this.#multiple = processesPerAccountMax / Math.max(0, processesMax - processesPerAccountMax)
  }

  get waiting(): number {
    let count = 0
    for (const waiters of this.#waiting.values()) count += waiters.length
    return count
  }

  /** How many processes of the account are at work. */
  countOf(accountId: string): number {
    return this.#uses.get(accountId)?.processes ?? 0
  }

  /** Whether another process of the account may be at work from now on. */
  tryAcquire(accountId: string): boolean {
    if (!this.#mayTake(accountId)) return false
    const use = this.#uses.get(accountId)
    if (use) use.processes++
    else this.#uses.set(accountId, { processes: 1, bytes: 0 })
    this.#total.processes++
    return true
  }

  /**
   * Waits until another process of the account may be at work. Fails with `too_many_runs`, or
   * `overloaded` when all are at work.
   */
  async acquire(accountId: string): Promise<void> {
    if (this.tryAcquire(accountId)) return
    await new Promise<void>((enter, refuse) => {
      const waiter = { sinceMs: performance.now(), enter, refuse }
      const waiters = this.#waiting.get(accountId)
      if (waiters) waiters.push(waiter)
      else this.#waiting.set(accountId, [waiter])
    })
  }

  /** A process of the account is no longer at work. */
  release(accountId: string): void {
    const use = this.#uses.get(accountId)
    if (!use) return
    this.#total.processes--
    if (--use.processes === 0) this.#uses.delete(accountId)
    if (this.#waiting.size > 0) this.#admit()
  }

  /** Says what the processes at work use, for each account that has some. */
  noteMemory(bytesOf: ReadonlyMap<string, number>): void {
    this.#total.bytes = 0
    for (const [accountId, use] of this.#uses) {
      use.bytes = bytesOf.get(accountId) ?? 0
      this.#total.bytes += use.bytes
    }
    if (this.#waiting.size > 0) this.#admit()
  }

  /**
   * The account that has to give up a process, because another one has none at work and has waited
   * for it.
   */
  findAccountToReduce(nowMs: number): string | undefined {
    const isOwed = [...this.#waiting].some(
      ([accountId, [first]]) =>
        !this.#uses.has(accountId) && first !== undefined && nowMs - first.sinceMs >= patienceMs,
    )
    if (!isOwed) return undefined
    let debtor: string | undefined
    for (const [accountId, { processes }] of this.#uses)
      if (processes > 1 && processes > (debtor === undefined ? 0 : this.countOf(debtor)))
        debtor = accountId
    return debtor
  }

  /** Refuses what has waited too long. */
  sweep(nowMs: number): void {
    for (const [accountId, waiters] of this.#waiting)
      for (
        let [first] = waiters;
        first && nowMs - first.sinceMs > this.#limits.shareWaitMsMax;
        [first] = waiters
      ) {
        this.#shift(accountId)
        first.refuse(this.#toRefusal())
      }
  }

  stop(): void {
    for (const waiters of this.#waiting.values())
      for (const { refuse } of waiters)
        refuse(new AppError("overloaded", "Cannot run the val: the server is stopping"))
    this.#waiting.clear()
  }

  #toRefusal(): AppError {
    if (this.#total.processes >= this.#limits.processesMax)
      return new AppError("overloaded", "Cannot run the val: no process became free for it in time")
    return new AppError(
      "too_many_runs",
      "Cannot run the val: its account has as many processes at work as its share allows",
    )
  }

  #mayTake(accountId: string): boolean {
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

  /** Lets in whatever there is room for now, the account with the fewest processes first. */
  #admit(): void {
    for (let accountId = this.#findNext(); accountId !== undefined; accountId = this.#findNext()) {
      this.tryAcquire(accountId)
      this.#shift(accountId)?.enter()
    }
  }

  #findNext(): string | undefined {
    let next: string | undefined
    for (const accountId of this.#waiting.keys()) {
      if (next !== undefined && this.countOf(accountId) >= this.countOf(next)) continue
      if (this.#mayTake(accountId)) next = accountId
    }
    return next
  }

  #shift(accountId: string): Waiter | undefined {
    const waiters = this.#waiting.get(accountId)
    const first = waiters?.shift()
    if (waiters?.length === 0) this.#waiting.delete(accountId)
    return first
  }
}
