import type {
  account,
  auditEntry,
  blob,
  comment,
  emailRecord,
  invitation,
  newToken,
  newUser,
  profile,
  quotas,
  reference,
  secret,
  token,
  usage,
  user,
  val,
  valMention,
  valStates,
  version,
  versionLock,
} from "@hamlet/contract"
import type { z } from "zod"
import type { Caller } from "../../domain/access.ts"
import type { Account } from "../../domain/accounts/accounts.ts"
import type { AuditEntry } from "../../domain/accounts/audit.ts"
import type { Invitation } from "../../domain/accounts/invitations.ts"
import type { Token } from "../../domain/accounts/tokens.ts"
import type { User } from "../../domain/accounts/users.ts"
import type { BlobEntry } from "../../domain/blobs/blobs.ts"
import type { Email } from "../../domain/emails/emails.ts"
import type { Quotas } from "../../domain/limits/quotas.ts"
import type { Usage } from "../../domain/limits/usage.ts"
import type { Lockfile } from "../../domain/modules/lockfiles.ts"
import type { Page } from "../../domain/paging.ts"
import type { Secret } from "../../domain/secrets/secrets.ts"
import type { Comment, ValMention } from "../../domain/vals/comments.ts"
import { findOrigin } from "../../domain/vals/forks.ts"
import type { Reference, ReferenceEnd } from "../../domain/vals/references.ts"
import { summarizeVal } from "../../domain/vals/summary.ts"
import type { Val, ValState } from "../../domain/vals/vals.ts"
import type { Version } from "../../domain/vals/versions.ts"
import type { Links } from "./links.ts"

// Each view lists its fields, so that a new column is never public by accident.

/** The public view of a user. */
export function toUserView(it: User, links: Links): z.infer<typeof user> {
  return {
    id: it.id,
    username: it.username,
    bio: it.bio,
    profileImageUrl: it.profileImageUrl,
    url: links.userPage(it.username),
    links: { self: links.user(it.id) },
    type: "user",
    createdAt: toTime(it.createdAt),
  }
}

/** A user as the user sees it. */
export function toProfileView(it: User, links: Links): z.infer<typeof profile> {
  return {
    ...toUserView(it, links),
    email: it.email,
    emailVerified: it.isEmailVerified,
    tier: it.tier,
  }
}

/** A user as an administrator sees it. */
export function toAccountView(it: Account, links: Links): z.infer<typeof account> {
  return {
    ...toProfileView(it, links),
    suspendedAt: toTimeOrNull(it.suspendedAt),
    deletedAt: toTimeOrNull(it.deletedAt),
  }
}

/** An invitation without its link. */
export function toInvitationView(it: Invitation): z.infer<typeof invitation> {
  return {
    id: it.id,
    note: it.note,
    email: it.email,
    quotas: it.quotas && toQuotasView(it.quotas),
    createdBy: it.createdBy,
    createdAt: toTime(it.createdAt),
    expiresAt: toTime(it.expiresAt),
  }
}

/** The quotas of a user. */
export function toQuotasView(it: Quotas): z.infer<typeof quotas> {
  return {
    runsPerMinute: it.runsPerMinute,
    runsAtOnce: it.runsAtOnce,
    egressBytesPerMinute: it.egressBytesPerMinute,
    storageRequestsPerMinute: it.storageRequestsPerMinute,
    blobBytes: it.blobBytes,
    sqliteBytes: it.sqliteBytes,
    mailsPerDay: it.mailsPerDay,
  }
}

/** An outgoing email. */
export function toEmailView(it: Email, links: Links): z.infer<typeof emailRecord> {
  return {
    id: it.id,
    kind: it.kind,
    from: it.from,
    to: it.recipients.map(({ address }) => address),
    subject: it.subject,
    status: it.status,
    attempts: it.attempts,
    error: it.error,
    bytes: it.bytes,
    runId: it.runId,
    val: it.val && { id: it.val.id, name: it.val.name },
    createdAt: toTime(it.createdAt),
    nextAttemptAt: toTimeOrNull(it.nextAttemptAt),
    endedAt: toTimeOrNull(it.endedAt),
    links: { self: links.email(it.id) },
  }
}

/** An entry of the audit log. */
export function toAuditView(it: AuditEntry): z.infer<typeof auditEntry> {
  return {
    id: it.id,
    at: toTime(it.at),
    action: it.action,
    actor: { id: it.actor.userId, username: it.actor.username },
    subject: { id: it.subject.id, name: it.subject.name },
    details: it.details,
  }
}

/** A new user, with its first token. */
export function toNewUserView(it: User, text: string, links: Links): z.infer<typeof newUser> {
  return { ...toUserView(it, links), token: text }
}

/** A val; the same on every route. The viewer may see less than is known of a fork's original. */
export function toValView(
  it: Val,
  links: Links,
  viewer: Pick<Caller, "userId"> | undefined,
): z.infer<typeof val> {
  const self = links.val(it.id)
  const emailAddress = it.type === "email" ? links.mailAddress(it) : undefined
  const origin = findOrigin(it, viewer)
  return {
    id: it.id,
    name: it.name,
    version: it.version,
    code: it.code,
    readme: it.readme,
    summary: summarizeVal(it),
    privacy: it.privacy,
    public: it.privacy === "public",
    type: it.type,
    url: links.valPage(it.ownerName, it.name),
    links: {
      self,
      versions: `${self}/versions`,
      module: links.module(it.ownerName, it.name),
      ...(it.type === "http" ? { endpoint: links.endpoint(it) } : {}),
    },
    ...(emailAddress === undefined ? {} : { emailAddress }),
    author: { id: it.ownerId, username: it.ownerName },
    likeCount: it.likeCount,
    referenceCount: it.referenceCount,
    forkCount: it.forkCount,
    forkedFrom: origin && {
      id: origin.id,
      name: origin.name,
      version: origin.version,
      author: { id: origin.ownerId, username: origin.ownerName },
    },
    createdAt: toTime(it.createdAt),
    updatedAt: toTime(it.updatedAt),
    versionCreatedAt: toTime(it.versionCreatedAt),
    runStartAt: toTimeOrNull(it.runStartedAt),
    runEndAt: toTimeOrNull(it.runEndedAt),
  }
}

/** The states of a user's vals. */
export function toValStatesView({ items, hasMore }: Page<ValState>): z.infer<typeof valStates> {
  return {
    data: items.map((it) => ({
      id: it.id,
      name: it.name,
      version: it.version,
      privacy: it.privacy,
      type: it.type,
      updatedAt: toTime(it.updatedAt),
    })),
    hasMore,
  }
}

/** A version in the list of a val's versions. */
export function toVersionView(it: Version): z.infer<typeof version> {
  return {
    val_id: it.valId,
    version: it.version,
    code: it.code,
    createdAt: toTime(it.createdAt),
    runStartAt: toTimeOrNull(it.runStartedAt),
    runEndAt: toTimeOrNull(it.runEndedAt),
  }
}

/** The lockfile of a version; null when it imports nothing remote. */
export function toVersionLockView(it: Lockfile | null): z.infer<typeof versionLock> {
  const imports = it?.resolution?.imports ?? []
  return {
    state: it?.state ?? "none",
    imports: imports.map(({ specifier, resolved, error }) => ({ specifier, resolved, error })),
    updatedAt: toTimeOrNull(it?.updatedAt ?? null),
  }
}

/** A comment. */
export function toCommentView(it: Comment): z.infer<typeof comment> {
  return {
    id: it.id,
    comment: it.comment,
    createdAt: toTime(it.createdAt),
    author: { id: it.authorId, username: it.authorName },
    val: toMentionView(it.val),
  }
}

/** A reference. */
export function toReferenceView(it: Reference): z.infer<typeof reference> {
  return { referencedAt: toTime(it.at), reference: toEndView(it.from), dependsOn: toEndView(it.to) }
}

/** A token without its secret string. */
export function toTokenView(it: Token): z.infer<typeof token> {
  return {
    id: it.id,
    name: it.name,
    scopes: [...it.scopes],
    createdAt: toTime(it.createdAt),
    expiresAt: toTimeOrNull(it.expiresAt),
    lastUsedAt: toTimeOrNull(it.lastUsedAt),
  }
}

/** A new token, with its secret string. */
export function toNewTokenView(it: Token, text: string): z.infer<typeof newToken> {
  return { ...toTokenView(it), token: text }
}

/** A secret without its value. */
export function toSecretView(it: Secret): z.infer<typeof secret> {
  return {
    name: it.name,
    hosts: it.hosts && [...it.hosts],
    createdAt: toTime(it.createdAt),
    updatedAt: toTime(it.updatedAt),
  }
}

/** A blob in a list. */
export function toBlobView(it: BlobEntry): z.infer<typeof blob> {
  return { key: it.key, size: it.size, lastModified: toTime(it.modifiedAt) }
}

/** The resource usage of a user. */
export function toUsageView({ used, perMinuteMax, ...it }: Usage): z.infer<typeof usage> {
  return {
    countedSince: toTime(it.countedSince),
    runs: {
      lastMinute: used.runs.lastMinute,
      sinceStart: used.runs.sinceStart,
      perMinuteMax: perMinuteMax.runsPerMinute ?? null,
      atOnce: it.runsAtOnce,
      atOnceMax: it.runsAtOnceMax,
    },
    egress: {
      bytesLastMinute: used.egressBytes.lastMinute,
      bytesSinceStart: used.egressBytes.sinceStart,
      bytesPerMinuteMax: perMinuteMax.egressBytesPerMinute ?? null,
    },
    storage: {
      requestsLastMinute: used.storageRequests.lastMinute,
      requestsSinceStart: used.storageRequests.sinceStart,
      requestsPerMinuteMax: perMinuteMax.storageRequestsPerMinute ?? null,
    },
    blobs: { count: it.blobs.count, bytes: it.blobs.bytes, bytesMax: it.blobBytesMax },
    sqlite: it.sqlite && { bytes: it.sqlite.bytes, bytesMax: it.sqlite.bytesMax },
    mail: it.mail && {
      recipientsLastDay: it.mail.recipients,
      recipientsPerDayMax: it.mail.recipientsPerDay ?? null,
      bytesLastDay: it.mail.bytes,
      bytesPerDayMax: it.mail.bytesPerDay ?? null,
    },
  }
}

/** A val as runs, comments and schedules mention it. */
export function toMentionView(it: ValMention): z.infer<typeof valMention> {
  return {
    id: it.id,
    name: it.name,
    version: it.version,
    privacy: it.privacy,
    public: it.privacy === "public",
    author: { id: it.ownerId, username: it.ownerName },
    author_id: it.ownerId,
    username: it.ownerName,
  }
}

function toEndView(it: ReferenceEnd): z.infer<typeof reference>["reference"] {
  return {
    id: it.id,
    name: it.name,
    username: it.ownerName,
    author_id: it.ownerId,
    author: { id: it.ownerId, username: it.ownerName },
  }
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}

function toTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : toTime(ms)
}
