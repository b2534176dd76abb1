import { createAccountStore } from "./storage/accounts/accounts.ts"
import { createAuditStore } from "./storage/accounts/audit.ts"
import { createIdempotencyStore } from "./storage/accounts/idempotency.ts"
import { createInvitationStore } from "./storage/accounts/invitations.ts"
import { createSecretStore } from "./storage/accounts/secrets.ts"
import { createSessionStore } from "./storage/accounts/sessions.ts"
import { createTokenStore } from "./storage/accounts/tokens.ts"
import { createUsageStore } from "./storage/accounts/usage.ts"
import { createUserStore } from "./storage/accounts/users.ts"
import { createBlobStore } from "./storage/blobs/blobs.ts"
import type { Database } from "./storage/database/database.ts"
import { createBundleStore } from "./storage/modules/bundles.ts"
import { createImportStore } from "./storage/modules/imports.ts"
import { createLockfileStore } from "./storage/modules/lockfiles.ts"
import { createReferenceStore } from "./storage/references/references.ts"
import { createRunStore } from "./storage/runs/runs.ts"
import { createStatStore } from "./storage/runs/stats.ts"
import { createCommentStore } from "./storage/vals/comments.ts"
import { createValImportStore } from "./storage/vals/import-vals.ts"
import { createLikeStore } from "./storage/vals/likes.ts"
import { createOwnValStore } from "./storage/vals/own-vals.ts"
import { createValStore } from "./storage/vals/vals.ts"
import { createVersionStore } from "./storage/vals/versions.ts"

/** Every store, on one database. */
export function createStores(db: Database) {
  return {
    vals: createValStore(db),
    versions: createVersionStore(db),
    likes: createLikeStore(db),
    comments: createCommentStore(db),
    references: createReferenceStore(db),
    imports: createImportStore(db),
    valImports: createValImportStore(db),
    locks: createLockfileStore(db),
    bundles: createBundleStore(db),
    runs: createRunStore(db),
    users: createUserStore(db),
    accounts: createAccountStore(db),
    invitations: createInvitationStore(db),
    audit: createAuditStore(db),
    usage: createUsageStore(db),
    stats: createStatStore(db),
    ownVals: createOwnValStore(db),
    blobs: createBlobStore(db),
    tokens: createTokenStore(db),
    sessions: createSessionStore(db),
    secrets: createSecretStore(db),
    idempotency: createIdempotencyStore(db),
  }
}
