import { runsAtOnce, type Sharing, toBudgetKey } from "@hamlet/kit"
import type { OwnerDatabases } from "@hamlet/owner-databases"
import type { Runner } from "@hamlet/sandbox"
import type { Caller } from "../access/caller.ts"
import type { BlobStore } from "../blobs/blobs.ts"
import type { Clock } from "../clock.ts"
import type { EmailAllowance, UsedMail } from "../mail/outbound/emails.ts"
import type { OutgoingMail } from "../mail/outbound/send-email.ts"
import type { CodeUsage, ValStore } from "../vals/vals.ts"
import type { AllowanceLimits, Allowances, UsedAllowances } from "./allowances.ts"
import type { QuotaBook } from "./quotas.ts"

/** What a user uses, with the limits. */
export interface Usage {
  readonly used: UsedAllowances
  readonly perMinuteMax: AllowanceLimits
  /** When this node started to count. */
  readonly countedSince: number
  /** The runs that have a slot on this node, and on others as far as they have reported theirs. */
  readonly runsAtOnce: number
  readonly runsAtOnceMax: number
  readonly code: CodeUsage
  readonly blobs: { readonly count: number; readonly bytes: number }
  readonly blobBytesMax: number
  /** Null when users have no databases on this server. */
  readonly sqlite: { readonly bytes: number; readonly bytesMax: number } | null
  /** Null when the server sends no mail. */
  readonly mail: (UsedMail & Pick<EmailAllowance, "recipientsPerDay" | "bytesPerDay">) | null
}

/** The server's limits. */
export interface UsageLimits {
  readonly runsAtOnceMax: number
  readonly blobBytesMax: number
  /** Null when users have no databases on this server. */
  readonly sqliteBytesMax: number | null
}

/** Reads what users use. */
export type UsageReader = ReturnType<typeof createUsage>

/** Creates the reader. This node starts to count now. */
export function createUsage(
  parts: {
    readonly vals: Pick<ValStore, "findUsage">
    readonly blobs: Pick<BlobStore, "findUsage">
    readonly allowances: Allowances
    readonly quotas: QuotaBook
    readonly runner: Pick<Runner, "runsOf">
    readonly ownerDatabases: Pick<OwnerDatabases, "sizeOf">
    readonly outgoingMail: Pick<OutgoingMail, "readUsage">
    readonly sharing: Pick<Sharing, "readSlots">
  },
  limits: UsageLimits,
  { now }: Pick<Clock, "now">,
) {
  const { blobs: blobStore, allowances, quotas, runner, ownerDatabases, outgoingMail } = parts
  const startedAt = now()
  return {
    /** Returns the usage of a user, with the limits. */
    async get({ ownerId }: Pick<Caller, "ownerId">): Promise<Usage> {
      const own = quotas.find(ownerId)
      const bytesMax =
        limits.sqliteBytesMax === null ? null : (own?.sqliteBytes ?? limits.sqliteBytesMax)
      const [code, blobs, bytes, mail, used, runsElsewhere] = await Promise.all([
        parts.vals.findUsage(ownerId),
        blobStore.findUsage(ownerId),
        bytesMax === null ? 0 : ownerDatabases.sizeOf(ownerId),
        outgoingMail.readUsage(ownerId),
        allowances.usedBy(ownerId),
        parts.sharing.readSlots(toBudgetKey(runsAtOnce, ownerId)),
      ])
      return {
        used,
        perMinuteMax: allowances.limitsOf(ownerId),
        countedSince: startedAt,
        runsAtOnce: runner.runsOf(ownerId) + runsElsewhere,
        runsAtOnceMax: own?.runsAtOnce ?? limits.runsAtOnceMax,
        code,
        blobs,
        blobBytesMax: own?.blobBytes ?? limits.blobBytesMax,
        sqlite: bytesMax === null ? null : { bytes, bytesMax },
        mail,
      }
    },
  }
}
