import type { ErrorCode } from "@hamlet/contract"
import { Budgets, Counter } from "@hamlet/kit"
import type { OwnerDatabases } from "@hamlet/owner-databases"
import type { Runner } from "@hamlet/sandbox"
import { createAccounts } from "../domain/accounts/accounts.ts"
import { createEmailAddresses } from "../domain/accounts/email-address.ts"
import { createIdempotency } from "../domain/accounts/idempotency.ts"
import { createInvitations } from "../domain/accounts/invitations.ts"
import { RunTokens } from "../domain/accounts/run-tokens.ts"
import { createSessions, createSignInLinks } from "../domain/accounts/sessions.ts"
import { TokenUses } from "../domain/accounts/token-uses.ts"
import { createTokens } from "../domain/accounts/tokens.ts"
import { createUsers } from "../domain/accounts/users.ts"
import { createAllowances } from "../domain/limits/allowances.ts"
import { createQuotaBook } from "../domain/limits/quotas.ts"
import { createUsage } from "../domain/limits/usage.ts"
import type { OutgoingMail } from "../domain/mail/outbound/send-email.ts"
import { createNotifications } from "../domain/notifications/notifications.ts"
import { createMembers } from "../domain/organisations/members.ts"
import { createOrgInvitations } from "../domain/organisations/org-invitations.ts"
import { createOrganisations } from "../domain/organisations/organisations.ts"
import type { LiveRuns } from "../domain/runs/live-runs.ts"
import type { Cipher } from "../domain/secrets/cipher.ts"
import { createSecrets } from "../domain/secrets/secrets.ts"
import { AccountWatch } from "../jobs/account-watch.ts"
import { chooseDatabaseHome, type Foundation } from "./foundation.ts"
import type { Stores } from "./stores.ts"

/** What a request may take beyond its run: the wait for a run slot, and the database. */
const requestMsBeyondRun = 60_000

/** What accounts may use. */
export type Limits = ReturnType<typeof createLimits>

/** Creates the quotas and allowances of accounts, and the counter of what was refused. */
export function createLimits({ config, now, nodeId, onErrorOf }: Foundation, stores: Stores) {
  const quotas = createQuotaBook()
  const budgets = new Budgets(stores.budgets, nodeId, onErrorOf("limits"))
  const allowances = createAllowances(config.allowances, now, quotas, budgets)
  return { quotas, budgets, allowances, refusals: new Counter<ErrorCode>() }
}

/** Users with their tokens, sessions and secrets, and those who administer them. */
export function composeAccounts(
  foundation: Foundation,
  stores: Stores,
  { quotas, allowances, budgets }: Limits,
  parts: {
    readonly cipher: Cipher
    readonly runner: Runner
    readonly liveRuns: LiveRuns
    readonly ownerDatabases: OwnerDatabases
    readonly outgoingMail: OutgoingMail
    isForOneUser(): boolean
  },
) {
  const { config, now, newId, nodeId, onErrorOf } = foundation
  const { cipher, runner, liveRuns, ownerDatabases, outgoingMail } = parts
  // A process may still have to finish a response when its time is over.
  const lifeMsMax = config.runs.processMsMax + config.runs.streamMsMax
  const onError = onErrorOf("tokens of runs")
  const runTokens = new RunTokens(stores.tokens, { nodeId, lifeMsMax, now, newId, onError })
  const tokens = createTokens(stores.tokens, runTokens, foundation)
  const users = createUsers(stores.users, stores.tokens, parts.isForOneUser, foundation)
  const accountWatch = new AccountWatch(
    stores.accounts,
    quotas,
    liveRuns,
    runner,
    onErrorOf("account watch"),
  )
  const organisations = createOrganisations(
    stores.organisations,
    async (id, audit) => {
      const isClosed = await stores.accounts.closeForPurge(id, audit)
      await accountWatch.refresh()
      return isClosed
    },
    config.orgCreation,
    foundation,
  )
  const hasNoSqlite = chooseDatabaseHome(config).kind === "none"
  const requestMsMax = config.runs.runMsMax + requestMsBeyondRun
  return {
    runTokens,
    tokens,
    users,
    accountWatch,
    tokenUses: new TokenUses(stores.tokens, onErrorOf("uses of tokens")),
    accounts: createAccounts(stores.accounts, ownerDatabases, accountWatch, foundation),
    organisations,
    members: createMembers(stores.members, organisations, foundation),
    orgInvitations: createOrgInvitations(stores.orgInvitations, organisations, foundation),
    sessions: createSessions(stores.sessions, tokens, config.sessionDays * 86_400_000, foundation),
    signInLinks: createSignInLinks(stores.sessions, foundation),
    invitations: createInvitations(stores.invitations, users, foundation),
    secrets: createSecrets(stores.secrets, cipher, runner, foundation),
    notifications: createNotifications(stores.notifications, foundation),
    idempotency: createIdempotency(stores.idempotency, cipher, { nodeId, requestMsMax, now }),
    emailAddresses: createEmailAddresses(stores, users, outgoingMail, config.baseUrl, foundation),
    usage: createUsage(
      {
        vals: stores.vals,
        blobs: stores.blobs,
        allowances,
        quotas,
        runner,
        ownerDatabases,
        outgoingMail,
        sharing: budgets,
      },
      {
        runsAtOnceMax: config.runs.perAccountMax,
        blobBytesMax: config.storage.blobsBytesMax,
        sqliteBytesMax: hasNoSqlite ? null : config.storage.sqliteBytesMax,
      },
      foundation,
    ),
  }
}
