import type { Caller } from "../access.ts"
import type { OwnerDatabases } from "../owner-databases.ts"
import type { LiveRuns } from "../runs/live-runs.ts"
import type { AllowanceLimits, Allowances, UsedAllowances } from "./allowances.ts"
import type { QuotaBook } from "./quotas.ts"

/** What a user has stored and what goes on for them, and how much of each they may have. */
export interface Usage {
  readonly used: UsedAllowances
  readonly perMinuteMax: AllowanceLimits
  /** When this node began to count. */
  readonly countedSince: number
  /** On this node. */
  readonly runsAtOnce: number
  readonly runsAtOnceMax: number
  readonly blobs: StoredBlobs
  readonly blobBytesMax: number
  /** Null when users have no databases on this server. */
  readonly sqlite: { readonly bytes: number; readonly bytesMax: number } | null
}

/** How many blobs a user has, and how large they are together. */
export interface StoredBlobs {
  readonly count: number
  readonly bytes: number
}

/** Where it is kept what a user has stored. */
export interface UsageStore {
  findBlobs(userId: string): Promise<StoredBlobs>
}

/** How large things may be. */
export interface UsageLimits {
  readonly runsAtOnceMax: number
  readonly blobBytesMax: number
  /** Null when users have no databases on this server. */
  readonly sqliteBytesMax: number | null
}

/** What telling the usage needs. */
export interface UsageDeps {
  readonly allowances: Allowances
  readonly usage: UsageStore
  readonly usageLimits: UsageLimits
  readonly quotas: QuotaBook
  readonly liveRuns: Pick<LiveRuns, "countOf">
  /** Where this node counts from. */
  readonly startedAt: number
  readonly ownerDatabases: Pick<OwnerDatabases, "sizeOf">
}

/** What a user uses, and how much of it they may. */
export async function getUsage(
  deps: UsageDeps,
  { userId }: Pick<Caller, "userId">,
): Promise<Usage> {
  const { allowances, usageLimits: limits, ownerDatabases } = deps
  const own = deps.quotas.find(userId)
  const bytesMax =
    limits.sqliteBytesMax === null ? null : (own?.sqliteBytes ?? limits.sqliteBytesMax)
  const [blobs, bytes] = await Promise.all([
    deps.usage.findBlobs(userId),
    bytesMax === null ? 0 : ownerDatabases.sizeOf(userId),
  ])
  return {
    used: allowances.usedBy(userId),
    perMinuteMax: allowances.limitsOf(userId),
    countedSince: deps.startedAt,
    runsAtOnce: deps.liveRuns.countOf(userId),
    runsAtOnceMax: own?.runsAtOnce ?? limits.runsAtOnceMax,
    blobs,
    blobBytesMax: own?.blobBytes ?? limits.blobBytesMax,
    sqlite: bytesMax === null ? null : { bytes, bytesMax },
  }
}
