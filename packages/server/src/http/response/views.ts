import {
  account,
  type accountLog,
  auditEntry,
  blob,
  comment,
  emailRecord,
  environmentVariable,
  invitation,
  type newToken,
  type newUser,
  node,
  nodeReport,
  profile,
  quotas,
  type reference,
  referenceEnd,
  run,
  runDetail,
  secret,
  token,
  type usage,
  user,
  type val,
  valMention,
  valSecret,
  valState,
  version,
  type versionLock,
} from "@hamlet/contract"
import type { z } from "zod"
import type { Viewer } from "../../domain/access/rights.ts"
import type { Account } from "../../domain/accounts/accounts.ts"
import type { AuditEntry } from "../../domain/accounts/audit.ts"
import type { Invitation } from "../../domain/accounts/invitations.ts"
import type { Token } from "../../domain/accounts/tokens.ts"
import type { User } from "../../domain/accounts/users.ts"
import type { BlobEntry } from "../../domain/blobs/blobs.ts"
import type { Comment, ValMention } from "../../domain/comments/comments.ts"
import { hasMailAddress, toEndpoint } from "../../domain/files/addresses.ts"
import type { Quotas } from "../../domain/limits/quotas.ts"
import type { Usage } from "../../domain/limits/usage.ts"
import type { Email } from "../../domain/mail/outbound/emails.ts"
import type { Lockfile } from "../../domain/modules/lockfiles.ts"
import { type ListedNode, type NodeReport, toNodeState } from "../../domain/nodes.ts"
import type { AccountLog, Run, RunDetail, RunMessage } from "../../domain/runs/runs.ts"
import type { Secret } from "../../domain/secrets/secrets.ts"
import type { ValSecret } from "../../domain/secrets/val-secrets.ts"
import { findOrigin } from "../../domain/vals/forks.ts"
import type { Reference, ReferenceEnd } from "../../domain/vals/references.ts"
import { summarizeVal } from "../../domain/vals/summary.ts"
import type { Val, ValState } from "../../domain/vals/vals.ts"
import type { Version } from "../../domain/vals/versions.ts"
import type { Links } from "./links.ts"
import { createView, toTimeText } from "./view.ts"

const toUserFields = (it: User, links: Links) => ({
  url: links.userPage(it.username),
  links: { self: links.user(it.id) },
  type: it.isOrg ? ("org" as const) : ("user" as const),
})

/** The public view of a user. */
export const toUserView = createView(user, toUserFields)

const toProfileFields = (it: User, links: Links) => ({
  ...toUserFields(it, links),
  emailVerified: it.isEmailVerified,
})

/** A user as the user sees it. */
export const toProfileView = createView(profile, toProfileFields)

/** A user as an administrator sees it. */
export const toAccountView = createView(account, (it: Account, links: Links) =>
  toProfileFields(it, links),
)

/** An invitation without its link. */
export const toInvitationView = createView(invitation, (_it: Invitation) => ({}))

/** The quotas of a user. */
export const toQuotasView = createView(quotas, (_it: Quotas) => ({}))

/** An outgoing email. */
export const toEmailView = createView(emailRecord, (it: Email, links: Links) => ({
  to: it.recipients.map(({ address }) => address),
  links: { self: links.email(it.id) },
}))

/** An entry of the audit log. */
export const toAuditView = createView(auditEntry, ({ actor }: AuditEntry) => ({
  actor: { id: actor.actorId, username: actor.actorName },
}))

/** A node. Its times are those of the database's clock. */
export const toNodeView = createView(node, (it: ListedNode) => ({
  state: toNodeState(it),
  report: it.report && toReportView(it.report, it.seenAt),
}))

const toReportView = createView(nodeReport, (it: NodeReport, seenAt: number) => ({
  startedAt: toTimeText(seenAt - it.uptimeMs),
  address: it.address ?? null,
}))

/** A new user, with its first token. */
export function toNewUserView(it: User, text: string, links: Links): z.infer<typeof newUser> {
  return { ...toUserView(it, links), token: text }
}

/** A val; the same on every route. The viewer may see less than is known of a fork's original. */
export function toValView(it: Val, links: Links, viewer: Viewer | undefined): z.infer<typeof val> {
  const self = links.val(it.id)
  const emailAddress =
    it.type !== "email"
      ? undefined
      : hasMailAddress(it)
        ? links.mailAddress(it)
        : links.fileMailAddress(it.file.id)
  const origin = findOrigin(it, viewer)
  return {
    id: it.id,
    name: it.name,
    description: it.description,
    ...(it.imageUrl === null ? {} : { imageUrl: it.imageUrl }),
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
      ...(it.type === "http" ? { endpoint: toEndpoint(links, it) } : {}),
    },
    ...(emailAddress === undefined ? {} : { emailAddress }),
    author: { id: it.ownerId, username: it.ownerName },
    likeCount: it.likeCount,
    referenceCount: it.referenceCount,
    forkCount: it.forkCount,
    files: it.fileCount,
    branchCount: it.branchCount,
    forkedFrom: origin && {
      id: origin.id,
      name: origin.name,
      version: origin.version,
      author: { id: origin.ownerId, username: origin.ownerName },
    },
    createdAt: toTimeText(it.createdAt),
    updatedAt: toTimeText(it.updatedAt),
    versionCreatedAt: toTimeText(it.versionCreatedAt),
    runStartAt: toTimeText(it.runStartedAt),
    runEndAt: toTimeText(it.runEndedAt),
  }
}

/** The state of a val. */
export const toValStateView = createView(valState, (_it: ValState) => ({}))

/** A version in the list of a val's versions. */
export const toVersionView = createView(version, (it: Version) => ({
  val_id: it.valId,
  runStartAt: toTimeText(it.runStartedAt),
  runEndAt: toTimeText(it.runEndedAt),
}))

/** The lockfile of a version; null when it imports nothing remote. */
export function toVersionLockView(it: Lockfile | null): z.infer<typeof versionLock> {
  const imports = it?.resolution?.imports ?? []
  return {
    state: it?.state ?? "none",
    imports: imports.map(({ specifier, resolved, error }) => ({ specifier, resolved, error })),
    warnings: (it?.resolution?.leftOut ?? []).map(
      (name) =>
        `the files of "${name}" are left out: together, those of all packages are too large`,
    ),
    updatedAt: toTimeText(it?.updatedAt ?? null),
  }
}

/** A comment. */
export const toCommentView = createView(comment, (it: Comment) => ({
  author: { id: it.authorId, username: it.authorName },
  val: toMentionView(it.val),
}))

/** A reference. */
export function toReferenceView(it: Reference): z.infer<typeof reference> {
  return {
    referencedAt: toTimeText(it.at),
    reference: toEndView(it.from),
    dependsOn: toEndView(it.to),
  }
}

/** A token without its secret string. */
export const toTokenView = createView(token, (_it: Token) => ({}))

/** A new token, with its secret string. */
export function toNewTokenView(it: Token, text: string): z.infer<typeof newToken> {
  return { ...toTokenView(it), token: text }
}

/** A secret without its value. */
export const toSecretView = createView(secret, (_it: Secret) => ({}))

/** A secret of a val, without its value. */
export const toValSecretView = createView(valSecret, (_it: ValSecret) => ({}))

/** A secret of a val as an environment variable, without its value. */
export const toVariableView = createView(environmentVariable, (it: ValSecret) => ({
  key: it.name,
  updatedAt: it.updatedAt === it.createdAt ? null : toTimeText(it.updatedAt),
}))

/** A blob in a list. */
export const toBlobView = createView(blob, (it: BlobEntry) => ({
  lastModified: toTimeText(it.modifiedAt),
}))

/** The resource usage of a user. */
export function toUsageView({ used, perMinuteMax, ...it }: Usage): z.infer<typeof usage> {
  return {
    countedSince: toTimeText(it.countedSince),
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
    code: { vals: it.code.vals, bytes: it.code.bytes },
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
export const toMentionView = createView(valMention, (it: ValMention) => ({
  public: it.privacy === "public",
  author: { id: it.ownerId, username: it.ownerName },
  author_id: it.ownerId,
  username: it.ownerName,
}))

const toEndView = createView(referenceEnd, (it: ReferenceEnd) => ({
  username: it.ownerName,
  author_id: it.ownerId,
  author: { id: it.ownerId, username: it.ownerName },
}))

const toRunFields = (it: Run) => ({
  runStartAt: toTimeText(it.startedAt),
  runEndAt: toTimeText(it.endedAt),
  durationMs: it.endedAt === null ? null : Math.max(0, it.endedAt - it.startedAt),
  val: toMentionView(it.val),
})

/** A run in a list. */
export const toRunView = createView(run, toRunFields)

/** A log line with its run and its val. */
export function toAccountLogView(it: AccountLog): z.infer<typeof accountLog> {
  const { runId, val, file, branch, line } = it
  return { runId, val: toMentionView(val), file, branch, line }
}

/** A run with logs, arguments, result and egress. */
export const toRunDetailView = createView(
  runDetail,
  (it: RunDetail, emails: readonly Email[], requestContent: RunMessage | null, links: Links) => ({
    ...toRunFields(it),
    logsOmitted: it.logGap,
    emails: emails.map((email) => toEmailView(email, links)),
    requestContent,
    responseContent: it.response,
  }),
)
