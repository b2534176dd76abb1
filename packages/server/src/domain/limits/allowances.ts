import { emptyQuotaBook, type QuotaBook } from "./quotas.ts"
import { createUsageMeter, type Used } from "./usage-meter.ts"

/** What each user may use in a minute; undefined for no limit. */
export interface AllowanceLimits {
  readonly runsPerMinute: number | undefined
  readonly egressBytesPerMinute: number | undefined
  readonly storageRequestsPerMinute: number | undefined
}

/**
 * What each user may use of the machine. Each node counts for itself. All that take throw
 * `rate_limited` when a minute is used up.
 */
export interface Allowances {
  /** What the user may use, whether by a quota of their own or as everybody. */
  limitsOf(userId: string): AllowanceLimits
  /** Before a run begins, by whose account it is on. */
  takeRun(userId: string): void
  /** What vals have sent or received, by whose account they run on. */
  takeBytes(userId: string, bytes: number): void
  /** Before a request to blobs or to SQLite. */
  takeStorageRequest(userId: string): void
  usedBy(userId: string): UsedAllowances
}

/** What a user has used of theirs on this node. */
export interface UsedAllowances {
  readonly runs: Used
  readonly egressBytes: Used
  readonly storageRequests: Used
}

/** Full allowances for everybody; a user with quotas has those instead. */
export function createAllowances(
  limits: AllowanceLimits,
  now: () => number,
  quotas: QuotaBook = emptyQuotaBook,
): Allowances {
  const own = (name: keyof AllowanceLimits) => (userId: string) =>
    quotas.find(userId)?.[name] ?? limits[name]
  const runs = createUsageMeter(own("runsPerMinute"), refusals.run, now)
  const bytes = createUsageMeter(own("egressBytesPerMinute"), refusals.bytes, now)
  const requests = createUsageMeter(own("storageRequestsPerMinute"), refusals.storage, now)
  return {
    limitsOf: (userId) => ({
      runsPerMinute: own("runsPerMinute")(userId),
      egressBytesPerMinute: own("egressBytesPerMinute")(userId),
      storageRequestsPerMinute: own("storageRequestsPerMinute")(userId),
    }),
    takeRun: (userId) => runs.take(userId, 1),
    takeBytes: (userId, amount) => bytes.take(userId, amount),
    takeStorageRequest: (userId) => requests.take(userId, 1),
    usedBy: (userId) => ({
      runs: runs.usedBy(userId),
      egressBytes: bytes.usedBy(userId),
      storageRequests: requests.usedBy(userId),
    }),
  }
}

// A visitor of a val reads them too, and whoever is not its owner: so they speak of the account,
// not of "you".
const refusals = {
  run: "Cannot run the val: the account has had all of its runs for this minute;",
  bytes:
    "Cannot send or receive any more: the account has used up its outgoing traffic for this minute;",
  storage:
    "Cannot use blobs or SQLite now: the account has used up its requests to them for this minute;",
}
