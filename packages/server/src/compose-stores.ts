import { createAccountStore } from "./storage/accounts.ts"
import { createAuditStore } from "./storage/audit.ts"
import { createBlobStore } from "./storage/blobs.ts"
import { createBundleStore } from "./storage/bundles.ts"
import { createCommentStore } from "./storage/comments.ts"
import type { Database } from "./storage/database.ts"
import { createIdempotencyStore } from "./storage/idempotency.ts"
import { createValImportStore } from "./storage/import-vals.ts"
import { createImportStore } from "./storage/imports.ts"
import { createInvitationStore } from "./storage/invitations.ts"
import { createLikeStore } from "./storage/likes.ts"
import { createLockStore } from "./storage/locks.ts"
import { createOwnValStore } from "./storage/own-vals.ts"
import { createReferenceStore } from "./storage/references.ts"
import { createRunStore } from "./storage/runs.ts"
import { createSecretStore } from "./storage/secrets.ts"
import { createSessionStore } from "./storage/sessions.ts"
import { createStatStore } from "./storage/stats.ts"
import { createTokenStore } from "./storage/tokens.ts"
import { createUsageStore } from "./storage/usage.ts"
import { createUserStore } from "./storage/users.ts"
import { createValStore } from "./storage/vals.ts"
import { createVersionStore } from "./storage/versions.ts"

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
    locks: createLockStore(db),
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
