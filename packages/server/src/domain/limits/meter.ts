import { RateLimited } from "./rate-limit.ts"

/** What one user has used of something. */
export interface Used {
  /** In the last 50 to 60 seconds. */
  readonly lastMinute: number
  readonly sinceStart: number
}

/** Counts what each user uses of something, and refuses what is beyond a minute's worth. */
export interface UsageMeter {
  /**
   * Throws `rate_limited` when nothing is left. What is taken may be more than is left: whoever
   * comes next waits for it.
   */
  take(userId: string, amount: number): void
  usedBy(userId: string): Used
}

const limits = {
  windowMs: 60_000,
  /** The last minute is the present slot and those before it. */
  slotMs: 10_000,
  slotCount: 6,
  /** Users who are counted, some 200 bytes each; beyond them, whoever came first is forgotten. */
  usersMax: 100_000,
}

interface Account {
  /** When the bucket is full again; see `spend`. */
  fullAt: number
  /** The number of the present slot, counted from 1970. */
  slot: number
  readonly counts: number[]
  total: number
}

/**
 * A bucket for each user that holds a minute's worth and fills evenly, or has no bottom where
 * `perMinuteOf` gives undefined. Every request to a val passes here: it costs a look into a map and
 * a few sums. `refusal` says what cannot be done when a bucket is empty.
 */
export function createUsageMeter(
  perMinuteOf: (userId: string) => number | undefined,
  refusal: string,
  now: () => number,
): UsageMeter {
  const startedAt = now()
  const accounts = new Map<string, Account>()
  return {
    take(userId, amount) {
      const at = now()
      const account = accounts.get(userId) ?? open(accounts, userId)
      const perMinute = perMinuteOf(userId)
      if (perMinute !== undefined)
        spend(account, (at - startedAt) * perMinute, amount, perMinute, refusal)
      const slot = Math.floor(at / limits.slotMs)
      if (slot !== account.slot) turn(account, slot)
      const index = slot % limits.slotCount
      account.counts[index] = (account.counts[index] ?? 0) + amount
      account.total += amount
    },
    usedBy(userId) {
      const account = accounts.get(userId)
      if (!account) return { lastMinute: 0, sinceStart: 0 }
      turn(account, Math.floor(now() / limits.slotMs))
      return {
        lastMinute: account.counts.reduce((sum, count) => sum + count, 0),
        sinceStart: account.total,
      }
    },
  }
}

function open(accounts: Map<string, Account>, userId: string): Account {
  const [first] = accounts.size >= limits.usersMax ? accounts.keys() : []
  if (first !== undefined) accounts.delete(first)
  const account = {
    fullAt: 0,
    slot: 0,
    counts: new Array<number>(limits.slotCount).fill(0),
    total: 0,
  }
  accounts.set(userId, account)
  return account
}

/**
 * Moments are counted in units of which a millisecond brings `perMinute` and one of the amount
 * costs `windowMs`: they are whole numbers, and rounding does not cost anybody the last of their
 * minute.
 */
function spend(
  account: Account,
  at: number,
  amount: number,
  perMinute: number,
  refusal: string,
): void {
  const capacity = limits.windowMs * perMinute
  // Nobody has to wait for more than a minute's worth.
  const latest = at + 2 * capacity
  // Later than it can be is a clock that was set back: then nothing is known.
  const fullAt = account.fullAt > at && account.fullAt <= latest ? account.fullAt : at
  const missing = fullAt + limits.windowMs - at - capacity
  if (missing > 0) throw new RateLimited(Math.ceil(missing / perMinute / 1000), refusal)
  account.fullAt = Math.min(fullAt + limits.windowMs * amount, latest)
}

/** Empties the slots that have passed since; all of them if the clock was set back. */
function turn(account: Account, slot: number): void {
  const passed = slot - account.slot
  if (passed < 0 || passed >= limits.slotCount) account.counts.fill(0)
  else
    for (let back = 0; back < passed; back++) account.counts[(slot - back) % limits.slotCount] = 0
  account.slot = slot
}
