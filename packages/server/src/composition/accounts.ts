import type { ErrorCode } from "@hamlet/contract"
import { RunTokens } from "../domain/accounts/run-tokens.ts"
import { TokenUses } from "../domain/accounts/token-uses.ts"
import { createAllowances } from "../domain/limits/allowances.ts"
import { createQuotaBook } from "../domain/limits/quotas.ts"
import { createCipher } from "../domain/secrets/cipher.ts"
import { Counter } from "../shared/counter.ts"
import { createAccountStore } from "../storage/accounts/accounts.ts"
import { createAuditStore } from "../storage/accounts/audit.ts"
import { createIdempotencyStore } from "../storage/accounts/idempotency.ts"
import { createInvitationStore } from "../storage/accounts/invitations.ts"
import { readKeyFile } from "../storage/accounts/key-file.ts"
import { createSecretStore } from "../storage/accounts/secrets.ts"
import { createSessionStore } from "../storage/accounts/sessions.ts"
import { createTokenStore } from "../storage/accounts/tokens.ts"
import { createUsageStore } from "../storage/accounts/usage.ts"
import { createUserStore } from "../storage/accounts/users.ts"
import { createOAuthStore } from "../storage/oauth/oauth.ts"
import type { Foundation } from "./foundation.ts"

/** What a request may take beyond its run: the wait for a run slot, and the database. */
const requestMsBeyondRun = 60_000

/** Users, their tokens, sessions and secrets, and what they may use. */
export function createAccounts({ config, db, keys, now, newId, nodeId, onError }: Foundation) {
  const tokens = createTokenStore(db)
  const quotas = createQuotaBook()
  // A process may still have to finish a response when its time is over.
  const lifeMsMax = config.runs.processMsMax + config.runs.streamMsMax
  const hasNoSqlite = config.databaseUrl !== undefined && !config.storage.isDataDirShared
  return {
    users: createUserStore(db),
    accounts: createAccountStore(db),
    invitations: createInvitationStore(db),
    audit: createAuditStore(db),
    tokens,
    tokenUses: new TokenUses(tokens, onError),
    runTokens: new RunTokens({ tokens, lifeMsMax, now, newId, nodeId, onError }),
    sessions: createSessionStore(db),
    oauth: createOAuthStore(db),
    baseUrl: config.baseUrl,
    sessionMs: config.sessionDays * 86_400_000,
    secrets: createSecretStore(db),
    cipher: createCipher(keys, () => config.secretKeys ?? readKeyFile(config.dataDir)),
    idempotency: createIdempotencyStore(db),
    requestMsMax: config.runs.runMsMax + requestMsBeyondRun,
    quotas,
    allowances: createAllowances(config.allowances, now, quotas),
    usage: createUsageStore(db),
    usageLimits: {
      runsAtOnceMax: config.runs.perAccountMax,
      blobBytesMax: config.storage.blobsBytesMax,
      sqliteBytesMax: hasNoSqlite ? null : config.storage.sqliteBytesMax,
    },
    refusals: new Counter<ErrorCode>(),
  }
}
