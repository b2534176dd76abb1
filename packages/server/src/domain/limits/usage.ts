import type { Caller } from "../access.ts"
import type { EmailAllowance, EmailStore, UsedMail } from "../emails/emails.ts"
import { allowanceOf, type MailSettings } from "../emails/send-email.ts"
import type { OwnerDatabases } from "../owner-databases.ts"
import type { LiveRuns } from "../runs/live-runs.ts"
import type { AllowanceLimits, Allowances, UsedAllowances } from "./allowances.ts"
import type { QuotaBook } from "./quotas.ts"

/** What a user uses, with the limits. */
export interface Usage {
  readonly used: UsedAllowances
  readonly perMinuteMax: AllowanceLimits
  /** When this node started to count. */
  readonly countedSince: number
  /** On this node. */
  readonly runsAtOnce: number
  readonly runsAtOnceMax: number
  readonly blobs: StoredBlobs
  readonly blobBytesMax: number
  /** Null when users have no databases on this server. */
  readonly sqlite: { readonly bytes: number; readonly bytesMax: number } | null
  /** Null when the server sends no mail. */
  readonly mail: (UsedMail & Pick<EmailAllowance, "recipientsPerDay" | "bytesPerDay">) | null
}

/** The number and total size of a user's blobs. */
export interface StoredBlobs {
  readonly count: number
  readonly bytes: number
}

/** Reads what a user has stored. */
export interface UsageStore {
  findBlobs(userId: string): Promise<StoredBlobs>
}

/** The server's limits. */
export interface UsageLimits {
  readonly runsAtOnceMax: number
  readonly blobBytesMax: number
  /** Null when users have no databases on this server. */
  readonly sqliteBytesMax: number | null
}

/** What reading the usage needs. */
export interface UsageDeps {
  readonly allowances: Allowances
  readonly usage: UsageStore
  readonly usageLimits: UsageLimits
  readonly quotas: QuotaBook
  readonly liveRuns: Pick<LiveRuns, "countOf">
  /** When this node started to count. */
  readonly startedAt: number
  readonly ownerDatabases: Pick<OwnerDatabases, "sizeOf">
  readonly mail: MailSettings | null
  readonly emails: Pick<EmailStore, "findUsed">
  now(): number
}

/** Returns the usage of a user, with the limits. */
export async function getUsage(
  deps: UsageDeps,
  { userId }: Pick<Caller, "userId">,
): Promise<Usage> {
  const { allowances, usageLimits: limits, ownerDatabases } = deps
  const own = deps.quotas.find(userId)
  const bytesMax =
    limits.sqliteBytesMax === null ? null : (own?.sqliteBytes ?? limits.sqliteBytesMax)
  const [blobs, bytes, mail] = await Promise.all([
    deps.usage.findBlobs(userId),
    bytesMax === null ? 0 : ownerDatabases.sizeOf(userId),
    deps.mail && deps.emails.findUsed(userId, deps.now()),
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
    mail: deps.mail && mail && { ...mail, ...allowanceOf(deps, deps.mail, userId) },
  }
}
