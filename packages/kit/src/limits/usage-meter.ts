import { RecentMap } from "../caches/recent-map.ts"
import { addCount, emptyCounts, type MinuteCounts, sumCounts } from "./minute-counts.ts"
import { admit, refuseUntil } from "./rate-limit.ts"
import type { SharedRates } from "./shared-rates.ts"

/** How much of a resource one user has used. */
export interface Used {
  /** In the last 50 to 60 seconds. */
  readonly lastMinute: number
  /** On this node. */
  readonly sinceStart: number
}

/**
 * Counts how much of a resource each user uses on this node, and enforces a limit per minute on all
 * nodes together.
 */
export type UsageMeter = ReturnType<typeof createUsageMeter>

const limits = {
  /** Users that are counted, some 200 bytes each; then the counter used longest ago is dropped. */
  usersMax: 100_000,
}

/** What one user has used. */
interface Counter extends MinuteCounts {
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
) {
  const counters = new RecentMap<string, Counter>(limits.usersMax)
  const count = (userId: string, amount: number) => {
    const counter = counters.get(userId) ?? addCounter(counters, userId)
    addCount(counter, amount, now())
    counter.total += amount
  }
  const lastMinuteOf = (userId: string) => {
    const counter = counters.get(userId)
    return counter ? sumCounts(counter, now()) : 0
  }
  rates.count(lastMinuteOf)
  return {
    /** Takes one. Throws or rejects with `rate_limited` when nothing is left. */
    take(userId: string): void | Promise<void> {
      const perMinute = perMinuteOf(userId)
      const admitted =
        perMinute === undefined ? undefined : admit(rates.take(userId, perMinute), refusal)
      return admitted !== undefined ? admitted.then(() => count(userId, 1)) : count(userId, 1)
    },
    /**
     * Throws `rate_limited` when nothing is left, as far as this node knows. `amount` may be more than
     * what is left: the user then waits until the debt is paid, but not longer than a minute.
     */
    takeNow(userId: string, amount: number): void {
      const perMinute = perMinuteOf(userId)
      if (perMinute !== undefined) refuseUntil(rates.takeNow(userId, perMinute, amount), refusal)
      count(userId, amount)
    },
    /** Whether `take` would succeed. */
    hasLeft(userId: string): boolean | Promise<boolean> {
      const perMinute = perMinuteOf(userId)
      return perMinute === undefined || rates.hasToken(userId, perMinute)
    },
    /** Takes the amount, whether anything is left or not. */
    charge(userId: string, amount: number): void {
      const perMinute = perMinuteOf(userId)
      if (perMinute !== undefined) rates.charge(userId, perMinute, amount)
      count(userId, amount)
    },
    /** The key of the user's limit, which all nodes share; undefined for no limit. */
    sharedKeyOf: (userId: string) =>
      perMinuteOf(userId) === undefined ? undefined : rates.sharedKeyOf(userId),
    /** `reported` is what nodes have reported of the last minute, this one included. */
    usedBy(userId: string, reported = 0): Used {
      const own = lastMinuteOf(userId)
      // What this node has used is known better here, as when it was alone or the database away.
      const all = reported + Math.min(rates.unreportedOf(userId), own)
      return { lastMinute: Math.max(own, all), sinceStart: counters.get(userId)?.total ?? 0 }
    },
  }
}

function addCounter(counters: RecentMap<string, Counter>, userId: string): Counter {
  const counter = { ...emptyCounts(), total: 0 }
  counters.set(userId, counter)
  return counter
}
