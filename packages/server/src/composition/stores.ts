import type { Links } from "../http/response/links.ts"
import { createAccountStore } from "../storage/accounts/accounts.ts"
import { createAuditStore } from "../storage/accounts/audit.ts"
import { createEmailCodeStore } from "../storage/accounts/email-codes.ts"
import { createIdempotencyStore } from "../storage/accounts/idempotency.ts"
import { createIdentityStore } from "../storage/accounts/identities.ts"
import { createInvitationStore } from "../storage/accounts/invitations.ts"
import { createSecretStore } from "../storage/accounts/secrets.ts"
import { createSessionStore } from "../storage/accounts/sessions.ts"
import { createTokenStore } from "../storage/accounts/tokens.ts"
import { createUserStore } from "../storage/accounts/users.ts"
import { createBlobStore } from "../storage/blobs/blobs.ts"
import { createObjectStore } from "../storage/blobs/objects.ts"
import { createBucketContent } from "../storage/blobs/s3-objects.ts"
import { createBudgetStore } from "../storage/budgets.ts"
import { createCommentStore } from "../storage/comments/comments.ts"
import { createBranchStore } from "../storage/files/branches.ts"
import { createFileStore } from "../storage/files/files.ts"
import { createLikeStore } from "../storage/likes/likes.ts"
import { createMailStore } from "../storage/mail/inbound/mails.ts"
import { createBundleStore } from "../storage/modules/bundles.ts"
import { createImportStore } from "../storage/modules/imports.ts"
import { createLockfileStore } from "../storage/modules/lockfiles.ts"
import { createVersionFileStore } from "../storage/modules/version-files.ts"
import { createNodeStore } from "../storage/nodes.ts"
import { createNotificationStore } from "../storage/notifications/notifications.ts"
import { createOAuthStore } from "../storage/oauth/oauth.ts"
import { createMemberStore } from "../storage/organisations/members.ts"
import { createOrgInvitationStore } from "../storage/organisations/org-invitations.ts"
import { createOrganisationStore } from "../storage/organisations/organisations.ts"
import { createQueueStore } from "../storage/queue/queue.ts"
import { createReferenceStore } from "../storage/references/references.ts"
import { createRunStore } from "../storage/runs/runs.ts"
import { createStatStore } from "../storage/runs/stats.ts"
import { createTelemetryStore } from "../storage/runs/telemetry.ts"
import { createScheduleStore } from "../storage/schedules/schedules.ts"
import { createForkStore } from "../storage/vals/forks.ts"
import { createImportedValStore } from "../storage/vals/import-vals.ts"
import { createOwnValStore } from "../storage/vals/own-vals.ts"
import { createValPurgeStore } from "../storage/vals/val-purges.ts"
import { createValSecretStore } from "../storage/vals/val-secrets.ts"
import { createValStore } from "../storage/vals/vals.ts"
import { createVersionStore } from "../storage/vals/versions.ts"
import { createWebhookStore } from "../storage/webhooks/webhooks.ts"
import type { Foundation } from "./foundation.ts"

/** The stores of a server. */
export type Stores = ReturnType<typeof createStores>

/** Creates the stores, one of each: some have caches. Those of messages belong to their outboxes. */
export function createStores({ config, db, now, newId }: Foundation, links: Links) {
  const { s3, blobBytesMax } = config.storage
  const bucket = s3 && createBucketContent(s3, blobBytesMax)
  return {
    accounts: createAccountStore(db),
    audit: createAuditStore(db),
    blobs: createBlobStore(db),
    branches: createBranchStore(db, config.schedules),
    bundles: createBundleStore(db),
    comments: createCommentStore(db),
    emailCodes: createEmailCodeStore(db),
    files: createFileStore(db, config.schedules),
    forks: createForkStore(db, config.schedules),
    idempotency: createIdempotencyStore(db),
    identities: createIdentityStore(db, now),
    imports: createImportStore(db),
    invitations: createInvitationStore(db),
    likes: createLikeStore(db),
    lockfiles: createLockfileStore(db),
    mails: createMailStore(db),
    budgets: createBudgetStore(db),
    nodes: createNodeStore(db),
    notifications: createNotificationStore(db),
    oauth: createOAuthStore(db),
    organisations: createOrganisationStore(db),
    members: createMemberStore(db),
    orgInvitations: createOrgInvitationStore(db),
    objects: createObjectStore(db, bucket, { now, newId }),
    ownVals: createOwnValStore(db),
    queue: createQueueStore(db),
    references: createReferenceStore(db),
    runs: createRunStore(db),
    schedules: createScheduleStore(db, newId, links.valPage),
    secrets: createSecretStore(db),
    sessions: createSessionStore(db),
    stats: createStatStore(db),
    telemetry: createTelemetryStore(db),
    tokens: createTokenStore(db),
    users: createUserStore(db),
    importedVals: createImportedValStore(db),
    valPurges: createValPurgeStore(db),
    valSecrets: createValSecretStore(db),
    vals: createValStore(db),
    versionFiles: createVersionFileStore(db),
    versions: createVersionStore(db),
    webhooks: createWebhookStore(db),
  }
}
