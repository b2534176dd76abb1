import {
  alone,
  createUsageMeter,
  minuteMs,
  SharedRates,
  type Sharing,
  type Used,
} from "@hamlet/kit"
import { emptyQuotaBook, type QuotaBook } from "./quotas.ts"

/** What each user may use per minute; undefined for no limit. */
export interface AllowanceLimits {
  readonly runsPerMinute: number | undefined
  readonly egressBytesPerMinute: number | undefined
  readonly storageRequestsPerMinute: number | undefined
}

/**
 * The limits per user and minute, of all nodes together. The `take` methods throw or reject with
 * `rate_limited` when an allowance is used up.
 */
export type Allowances = ReturnType<typeof createAllowances>

/**
 * What a user has used: in the last minute on all nodes, as far as they have reported it, or on this
 * node where there is no limit.
 */
export interface UsedAllowances {
  readonly runs: Used
  readonly egressBytes: Used
  readonly storageRequests: Used
}

/** Creates the allowances. The quotas of a user replace the limits of the server. */
export function createAllowances(
  limits: AllowanceLimits,
  now: () => number,
  quotas: QuotaBook = emptyQuotaBook,
  sharing: Sharing = alone,
) {
  const own = (name: keyof AllowanceLimits) => (userId: string) =>
    quotas.find(userId)?.[name] ?? limits[name]
  const meter = (name: keyof AllowanceLimits, refusal: string) =>
    createUsageMeter(own(name), refusal, new SharedRates(name, minuteMs, now, sharing), now)
  const runs = meter("runsPerMinute", refusals.run)
  const bytes = meter("egressBytesPerMinute", refusals.bytes)
  const requests = meter("storageRequestsPerMinute", refusals.storage)
  return {
    /** The user's own quotas, or the limits of the server. */
    limitsOf: (userId: string): AllowanceLimits => ({
      runsPerMinute: own("runsPerMinute")(userId),
      egressBytesPerMinute: own("egressBytesPerMinute")(userId),
      storageRequestsPerMinute: own("storageRequestsPerMinute")(userId),
    }),
    /** Call before a run starts, with the user of its account. */
    takeRun: (userId: string) => runs.take(userId),
    /** Whether `takeRun` would succeed. */
    hasRun: (userId: string) => runs.hasLeft(userId),
    /** Counts a run that starts, whether the allowance is used up or not. */
    countRun: (userId: string) => runs.charge(userId, 1),
    /** Call when a val has sent or received bytes, with the user of its account. */
    takeBytes: (userId: string, amount: number) => bytes.takeNow(userId, amount),
    /** Call before a request to blobs or SQLite. */
    takeStorageRequest: (userId: string) => requests.take(userId),
    async usedBy(userId: string): Promise<UsedAllowances> {
      const keys = [runs, bytes, requests].map((meter) => meter.sharedKeyOf(userId))
      const shared = keys.filter((key) => key !== undefined)
      const reported = shared.length === 0 ? undefined : await sharing.readRates(shared)
      const [ofRuns, ofBytes, ofRequests] = keys.map((key) => reported?.get(key ?? ""))
      return {
        runs: runs.usedBy(userId, ofRuns),
        egressBytes: bytes.usedBy(userId, ofBytes),
        storageRequests: requests.usedBy(userId, ofRequests),
      }
    },
  }
}

// Callers other than the owner of the account see these messages, so they do not say "you".
const refusals = {
  run: "Cannot run the val: the account has used up its runs for this minute;",
  bytes:
    "Cannot send or receive any more: the account has used up its outgoing traffic for this minute;",
  storage:
    "Cannot use blobs or SQLite now: the account has used up its requests to them for this minute;",
}
