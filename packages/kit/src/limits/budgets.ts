import { sha256 } from "../text/sha256.ts"
import { Loop } from "../time/loop.ts"
import type { BudgetAnswer, BudgetAsk } from "./settle-budget.ts"

/** Stores what all nodes together use of each limit. */
export interface BudgetStore {
  /**
   * Settles the asks of a node in one transaction, by the rules of `settle-budget.ts`. An ask has no
   * answer if nothing is stored of its limit and `mayAdd` is false. The keys differ.
   */
  settle(
    nodeId: string,
    asks: readonly BudgetAsk[],
    mayAdd: boolean,
  ): Promise<{ readonly answers: readonly (BudgetAnswer | undefined)[]; readonly added: number }>
  /** What nodes have reported of the last minute, by the keys of limits that are counted. */
  readRates(keys: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** How many slots of a key all other nodes hold. */
  readSlots(nodeId: string, key: string): Promise<number>
  /** Forgets limits of which nothing is used. Returns how many are left, counted up to `countMax`. */
  purge(countMax: number): Promise<number>
}

/** An ask of this node that waits for its answer. */
export interface OpenAsk {
  readonly ask: BudgetAsk
  /** Undefined: there is no answer, and this node decides alone. */
  settle(answer: BudgetAnswer | undefined): void
  /** The answer that came after this node had decided alone: the database has counted the ask. */
  noteLate(answer: BudgetAnswer | undefined): void
}

/** The limits of one kind, which have asks from time to time. */
export interface BudgetSource {
  /** Takes the asks that are due, up to a number. */
  collect(asksMax: number): readonly OpenAsk[]
  /** The time until the next ask is due unless `wakeIn` says so. */
  msUntilDue(): number
  /** This node was alone until now: others must learn what it has used. */
  join(): void
}

/** The key of a limit in the database, whose index takes no long ones. */
export function toBudgetKey(name: string, key: string): string {
  if (key.length <= 200) return `${name}:${key}`
  return `${name}:${sha256(key).toString("hex")}`
}

/** What a limit knows of the other nodes. */
export interface Sharing {
  /** How many nodes there are. One that is alone asks nothing. */
  readonly nodeCount: number
  /** The database does not answer: this node may use its part of each limit. */
  readonly isCut: boolean
  add(source: BudgetSource): void
  /** Collects asks after a delay, or sooner. */
  wakeIn(delayMs: number): void
  /** What nodes have reported of the last minute, by the keys of limits that are counted. */
  readRates(keys: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** How many slots of a key all other nodes hold. */
  readSlots(key: string): Promise<number>
}

/** A node that shares its limits with no other. */
export const alone: Sharing = {
  nodeCount: 1,
  isCut: false,
  add() {},
  wakeIn() {},
  readRates: async () => new Map(),
  readSlots: async () => 0,
}

/**
 * The part of a limit that all nodes together may use before they have reported it: by so much they
 * may exceed the limit.
 */
const unreportedShare = 0.05

/** How much of a limit this node may use before it has reported it. */
export function trustOf({ nodeCount }: Sharing, max: number): number {
  return nodeCount === 1
    ? Number.POSITIVE_INFINITY
    : Math.floor((max * unreportedShare) / nodeCount)
}

/** The part of a limit that this node may use while the database does not answer. */
export function shareOf({ nodeCount }: Sharing, max: number): number {
  return Math.max(1, Math.floor(max / nodeCount))
}

const limits = {
  /** Asks in one transaction. */
  asksMax: 500,
  /** Requests wait for an answer at most so long; then this node decides alone. */
  answerMsMax: 1_000,
  /** How long the database is not asked again after it did not answer. */
  failedMs: 1_000,
  purgeMs: 60_000,
  /** Limits that are stored, some 100 bytes each. Others are shared in equal parts. */
  storedMax: 500_000,
}

/**
 * The limits that hold for all nodes together. A node reports what it has used, and asks before it
 * uses more than it is trusted with: one transaction at a time, with everything that is due by then.
 * So there are never more than a few hundred per second and node, whatever clients do. See ADR 17.
 */
export class Budgets implements Sharing {
  readonly #store: BudgetStore
  readonly #nodeId: string
  readonly #sources: BudgetSource[] = []
  readonly #loop: Loop
  readonly #purges: Loop
  #nodeCount = 1
  #isCut = false
  /**
   * The limits that are stored: as many as at the last count, and what all nodes may have added
   * since.
   */
  #stored = 0

  constructor(store: BudgetStore, nodeId: string, onError: (error: unknown) => void) {
    this.#store = store
    this.#nodeId = nodeId
    const { failedMs, purgeMs } = limits
    this.#loop = new Loop({ round: () => this.#round(), failedMs, onError })
    // Beside the rounds: a request waits for a round, and must not wait for a purge.
    this.#purges = new Loop({ round: () => this.#purge(), pollMs: purgeMs, onError })
  }

  get nodeCount(): number {
    return this.#nodeCount
  }

  get isCut(): boolean {
    return this.#isCut
  }

  /** Call when nodes have come or gone, with their number. */
  setNodeCount(count: number): void {
    const wasAlone = this.#nodeCount === 1
    this.#nodeCount = Math.max(1, count)
    if (!wasAlone || this.#nodeCount === 1) return
    for (const source of this.#sources) source.join()
    this.wakeIn(0)
    this.#purges.start()
  }

  add(source: BudgetSource): void {
    this.#sources.push(source)
  }

  wakeIn(delayMs: number): void {
    this.#loop.wakeIn(delayMs)
  }

  readRates(keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#nodeCount === 1 ? alone.readRates(keys) : this.#store.readRates(keys)
  }

  readSlots(key: string): Promise<number> {
    return this.#nodeCount === 1 ? alone.readSlots(key) : this.#store.readSlots(this.#nodeId, key)
  }

  /** From now on this node decides alone. */
  async stop(): Promise<void> {
    this.#isCut = true
    await Promise.all([this.#loop.stop(), this.#purges.stop()])
    this.#isCut = true
    this.#decideAlone()
  }

  async #round(): Promise<number> {
    if (this.#nodeCount === 1) {
      this.#decideAlone()
      return Infinity
    }
    const asks = this.#collect()
    if (asks.length > 0) await this.#settle(asks)
    // With nothing to report, the next request finds out whether the database answers again.
    else this.#isCut = false
    if (this.#isCut) return limits.failedMs
    return Math.min(...this.#sources.map((source) => source.msUntilDue()))
  }

  #collect(asksMax = limits.asksMax): OpenAsk[] {
    const asks: OpenAsk[] = []
    for (const source of this.#sources) asks.push(...source.collect(asksMax - asks.length))
    return asks
  }

  /** Answers everything that waits. */
  #decideAlone(): void {
    for (const { settle } of this.#collect(Infinity)) settle(undefined)
  }

  async #settle(asks: readonly OpenAsk[]): Promise<void> {
    let isWaiting = true
    const decideAlone = () => {
      if (!isWaiting) return
      isWaiting = false
      this.#isCut = true
      for (const { settle } of asks) settle(undefined)
      // Requests that came meanwhile have waited too, and this round may still take long.
      this.#decideAlone()
    }
    const timer = setTimeout(decideAlone, limits.answerMsMax)
    try {
      const mayAdd = this.#stored < limits.storedMax
      const sent = asks.map(({ ask }) => ask)
      const { answers, added } = await this.#store.settle(this.#nodeId, sent, mayAdd)
      this.#stored += added * this.#nodeCount
      // A database that answers late again and again would let requests wait again and again.
      if (isWaiting) this.#isCut = false
      for (const [index, ask] of asks.entries())
        if (isWaiting) ask.settle(answers[index])
        else ask.noteLate(answers[index])
    } catch (error) {
      decideAlone()
      this.#isCut = true
      throw error
    } finally {
      isWaiting = false
      clearTimeout(timer)
    }
  }

  async #purge(): Promise<void> {
    if (this.#nodeCount === 1) return
    this.#stored = await this.#store.purge(limits.storedMax)
  }
}
