import {
  type BudgetSource,
  type OpenAsk,
  type Sharing,
  shareOf,
  toBudgetKey,
  trustOf,
} from "./budgets.ts"
import { type BudgetAnswer, type SlotAnswer, slotsRenewedMs } from "./settle-budget.ts"

const limits = {
  /** How often a node asks again for a key that waits. */
  pollMs: 100,
  /** How often a node gives back what it did not need since. */
  giveBackMs: 500,
  /** Slots that are held are reported again, before they are forgotten. */
  renewMs: slotsRenewedMs,
}

/** The name of the limit on the runs of each account. */
export const runsAtOnce = "runs at once"

/** Whose slots these are. */
export interface SlotUsers {
  /** The most that all nodes together may have open of the key. */
  maxOf(key: string): number
  /** How many wait for a slot on this node. */
  waitingOf(key: string): number
  /** There may be room again for those that wait. */
  onRoom(): void
}

/**
 * Counts what is open by key, such as the runs of each account, and limits it on all nodes together.
 * A node holds some of the slots of a key: it asks for more when it needs them, and gives back what
 * it did not need for a while. It may open `trustOf` slots more than it holds.
 */
export class SharedSlots implements BudgetSource {
  readonly #name: string
  readonly #users: SlotUsers
  readonly #sharing: Sharing
  readonly #counts = new Map<string, SlotCount>()
  /** When the counts are looked at next. */
  #dueAtMs = Infinity
  #isRoomNoted = false

  /** The name differs from that of other limits. */
  constructor(name: string, users: SlotUsers, sharing: Sharing) {
    this.#name = name
    this.#users = users
    this.#sharing = sharing
    sharing.add(this)
  }

  hasRoom(key: string, count = this.#counts.get(key)): boolean {
    const max = this.#users.maxOf(key)
    const open = count?.open ?? 0
    if (this.#sharing.nodeCount === 1) return open < max
    if (open < this.#roomOf(max, count)) return true
    // Sooner than this another ask would get the same answer.
    const askedAtMs = count?.askedAtMs ?? 0
    if (open < max) this.#lookIn(Math.max(0, askedAtMs + limits.pollMs - performance.now()))
    return false
  }

  /** Opens a slot, or returns false. */
  tryOpen(key: string): boolean {
    const known = this.#counts.get(key)
    if (!this.hasRoom(key, known)) {
      // A key with a count is among those for which this node asks.
      if (!known && this.#sharing.nodeCount > 1) this.#counts.set(key, new SlotCount())
      return false
    }
    const count = known ?? new SlotCount()
    if (!known) this.#counts.set(key, count)
    count.open += 1
    if (this.#sharing.nodeCount === 1) return true
    count.peak = Math.max(count.peak, count.open)
    this.#lookIn(limits.giveBackMs)
    return true
  }

  /** How many are open on this node. */
  openOf(key: string): number {
    return this.#counts.get(key)?.open ?? 0
  }

  close(key: string): void {
    const count = this.#counts.get(key)
    if (!count) return
    count.open -= 1
    if (isUnused(count) || (count.open === 0 && this.#sharing.nodeCount === 1))
      this.#counts.delete(key)
  }

  join(): void {
    // A node that is alone notes only what is open.
    for (const count of this.#counts.values()) count.peak = count.open
    this.#lookIn(0)
  }

  msUntilDue(): number {
    return Math.max(0, this.#dueAtMs - performance.now())
  }

  collect(asksMax: number): readonly OpenAsk[] {
    const asks: OpenAsk[] = []
    const nowMs = performance.now()
    if (this.#sharing.nodeCount === 1 || nowMs < this.#dueAtMs) return asks
    this.#dueAtMs = Infinity
    for (const [key, count] of this.#counts) {
      this.#dueAtMs = Math.min(this.#dueAtMs, nowMs + limits.giveBackMs)
      if (asks.length >= asksMax) {
        this.#dueAtMs = nowMs
        break
      }
      const max = this.#users.maxOf(key)
      const waiting = this.#users.waitingOf(key)
      // Some wait for something else, such as the limit of their val.
      const isShort = waiting > 0 && count.open >= this.#roomOf(max, count)
      const wanted = Math.min(max, isShort ? count.open + waiting : count.peak)
      if (isShort) this.#dueAtMs = Math.min(this.#dueAtMs, nowMs + limits.pollMs)
      const isDue = this.#isDue(count, wanted, isShort, max, nowMs)
      if (nowMs - count.peakAtMs >= limits.giveBackMs) count.beginPeak(nowMs)
      if (isDue) asks.push(this.#toAsk(key, count, wanted, max, nowMs))
      else if (waiting === 0 && isUnused(count)) this.#counts.delete(key)
    }
    return asks
  }

  #lookIn(delayMs: number): void {
    this.#dueAtMs = Math.min(this.#dueAtMs, performance.now() + delayMs)
    this.#sharing.wakeIn(delayMs)
  }

  #roomOf(max: number, count: SlotCount | undefined): number {
    if (this.#sharing.isCut) return shareOf(this.#sharing, max)
    const held = count ? Math.min(count.held, count.openMax) : 0
    return Math.min(max, held + trustOf(this.#sharing, max))
  }

  #isDue(count: SlotCount, wanted: number, isShort: boolean, max: number, nowMs: number) {
    const ageMs = nowMs - count.askedAtMs
    if (isShort) return ageMs >= limits.pollMs && wanted > count.open
    if (count.wanted > 0 || wanted > count.held + trustOf(this.#sharing, max) / 2) return true
    if (nowMs - count.peakAtMs < limits.giveBackMs) return false
    const spare = count.open === 0 ? 0 : trustOf(this.#sharing, max)
    return count.held > wanted + spare || (count.held > 0 && ageMs >= limits.renewMs)
  }

  #toAsk(key: string, count: SlotCount, wanted: number, max: number, nowMs: number): OpenAsk {
    count.askedAtMs = nowMs
    return {
      ask: { key: toBudgetKey(this.#name, key), max, open: count.open, wanted },
      settle: (answer) => {
        if (answer && isSlotAnswer(answer)) {
          count.held = answer.held
          count.openMax = answer.openMax
          count.wanted = Math.max(0, wanted - answer.held)
          if (isUnused(count)) this.#counts.delete(key)
        } else if (count.askedAtMs === nowMs) this.#forgetReports()
        this.#noteRoom()
      },
      // The next report is about all slots.
      noteLate() {},
    }
  }

  /** Once for all answers of a transaction. */
  #noteRoom(): void {
    if (this.#isRoomNoted) return
    this.#isRoomNoted = true
    queueMicrotask(() => {
      this.#isRoomNoted = false
      this.#users.onRoom()
    })
  }

  /** A database that has crashed knows nothing of the slots: all are reported again. */
  #forgetReports(): void {
    for (const count of this.#counts.values()) count.askedAtMs = Number.NEGATIVE_INFINITY
  }
}

/** The slots of one key on this node. */
class SlotCount {
  open = 0
  /** The most that were open since then. */
  peak = 0
  peakAtMs = 0
  /** Slots that this node holds, as the database knows it, with how many more are wanted. */
  held = 0
  wanted = 0
  /** The most that should be open: the others hold the rest, or wait for it. */
  openMax = Infinity
  askedAtMs = Number.NEGATIVE_INFINITY

  beginPeak(nowMs: number): void {
    this.peak = this.open
    this.peakAtMs = nowMs
  }
}

function isUnused({ open, held, wanted }: SlotCount): boolean {
  return open === 0 && held === 0 && wanted === 0
}

function isSlotAnswer(answer: BudgetAnswer): answer is SlotAnswer {
  return "held" in answer
}
