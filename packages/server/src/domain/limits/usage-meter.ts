import { admit, refuseUntil } from "./rate-limit.ts"
import type { SharedRates } from "./shared-rates.ts"

/** How much of a resource one user has used. */
export interface Used {
  /** In the last 50 to 60 seconds. */
  readonly lastMinute: number
  readonly sinceStart: number
}

/**
 * Counts how much of a resource each user uses on this node, and enforces a limit per minute on all
 * nodes together.
 */
export interface UsageMeter {
  /** Takes one. Throws or rejects with `rate_limited` when nothing is left. */
  take(userId: string): void | Promise<void>
  /**
   * Throws `rate_limited` when nothing is left, as far as this node knows. `amount` may be more than
   * what is left: the user then waits until the debt is paid, but not longer than a minute.
   */
  takeNow(userId: string, amount: number): void
  /** Whether `take` would succeed. */
  hasLeft(userId: string): boolean | Promise<boolean>
  /** As `take`, whether anything is left or not. */
  charge(userId: string, amount: number): void
  usedBy(userId: string): Used
}

const limits = {
  /** The last minute is the current slot and the five before it. */
  slotMs: 10_000,
  slotCount: 6,
  /** Users that are counted, some 200 bytes each; then the oldest counter is dropped. */
  usersMax: 100_000,
}

/** What one user has used. */
interface Counter {
  /** The number of the current slot, counted from 1970. */
  slot: number
  readonly counts: number[]
  total: number
}

/**
 * A meter with a limit per user, without one where `perMinuteOf` returns undefined. `refusal` is
 * the beginning of the error message. Every request to a val passes here, so it seldom does I/O.
 */
export function createUsageMeter(
  perMinuteOf: (userId: string) => number | undefined,
  refusal: string,
  rates: SharedRates,
  now: () => number,
): UsageMeter {
  const counters = new Map<string, Counter>()
  const count = (userId: string, amount: number) => {
    const counter = counters.get(userId) ?? addCounter(counters, userId)
    const slot = Math.floor(now() / limits.slotMs)
    if (slot !== counter.slot) advance(counter, slot)
    const index = slot % limits.slotCount
    counter.counts[index] = (counter.counts[index] ?? 0) + amount
    counter.total += amount
  }
  return {
    take(userId) {
      const perMinute = perMinuteOf(userId)
      const admitted =
        perMinute === undefined ? undefined : admit(rates.take(userId, perMinute), refusal)
      return admitted !== undefined ? admitted.then(() => count(userId, 1)) : count(userId, 1)
    },
    takeNow(userId, amount) {
      const perMinute = perMinuteOf(userId)
      if (perMinute !== undefined) refuseUntil(rates.takeNow(userId, perMinute, amount), refusal)
      count(userId, amount)
    },
    hasLeft(userId) {
      const perMinute = perMinuteOf(userId)
      return perMinute === undefined || rates.hasToken(userId, perMinute)
    },
    charge(userId, amount) {
      const perMinute = perMinuteOf(userId)
      if (perMinute !== undefined) rates.charge(userId, perMinute, amount)
      count(userId, amount)
    },
    usedBy(userId) {
      const counter = counters.get(userId)
      if (!counter) return { lastMinute: 0, sinceStart: 0 }
      advance(counter, Math.floor(now() / limits.slotMs))
      return {
        lastMinute: counter.counts.reduce((sum, count) => sum + count, 0),
        sinceStart: counter.total,
      }
    },
  }
}

function addCounter(counters: Map<string, Counter>, userId: string): Counter {
  const [oldest] = counters.size >= limits.usersMax ? counters.keys() : []
  if (oldest !== undefined) counters.delete(oldest)
  const counter = { slot: 0, counts: new Array<number>(limits.slotCount).fill(0), total: 0 }
  counters.set(userId, counter)
  return counter
}

/** Clears the slots that have passed; all of them if the clock was set back. */
function advance(counter: Counter, slot: number): void {
  const passed = slot - counter.slot
  if (passed < 0 || passed >= limits.slotCount) counter.counts.fill(0)
  else
    for (let back = 0; back < passed; back++) counter.counts[(slot - back) % limits.slotCount] = 0
  counter.slot = slot
}
