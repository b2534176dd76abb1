import type { ErrorCode } from "@hamlet/contract"
import type { Counter, LoopDelay, RateLimits, SlowLog, SpanCounts, Tracer } from "@hamlet/kit"
import type { Runner } from "@hamlet/sandbox"
import type { Accounts } from "../domain/accounts/accounts.ts"
import type { AuditStore } from "../domain/accounts/audit.ts"
import type { EmailAddresses } from "../domain/accounts/email-address.ts"
import type { Idempotency } from "../domain/accounts/idempotency.ts"
import type { Invitations } from "../domain/accounts/invitations.ts"
import type { Sessions, SignInLinks } from "../domain/accounts/sessions.ts"
import type { TokenUses } from "../domain/accounts/token-uses.ts"
import type { Tokens } from "../domain/accounts/tokens.ts"
import type { Users } from "../domain/accounts/users.ts"
import type { Backups } from "../domain/backups.ts"
import type { Blobs } from "../domain/blobs/blobs.ts"
import type { Uploads } from "../domain/blobs/uploads.ts"
import type { SentStats } from "../domain/claims.ts"
import type { Clock } from "../domain/clock.ts"
import type { Comments } from "../domain/comments/comments.ts"
import type { Connections } from "../domain/connections.ts"
import type { Branches } from "../domain/files/branches.ts"
import type { Differences } from "../domain/files/differences.ts"
import type { FileHistory } from "../domain/files/file-history.ts"
import type { FileSaves } from "../domain/files/file-saves.ts"
import type { Files } from "../domain/files/files.ts"
import type { Merges } from "../domain/files/merges.ts"
import type { ModuleFiles } from "../domain/files/module-files.ts"
import type { Identities } from "../domain/identities/identities.ts"
import type { ProviderSignIn } from "../domain/identities/provider-sign-in.ts"
import type { Likes } from "../domain/likes/likes.ts"
import type { Allowances } from "../domain/limits/allowances.ts"
import type { UsageReader } from "../domain/limits/usage.ts"
import type { TestMails } from "../domain/mail/inbound/test-mail.ts"
import type { OutgoingMail } from "../domain/mail/outbound/send-email.ts"
import type { Formatting } from "../domain/modules/format-code.ts"
import type { StandardModules } from "../domain/modules/standard-modules.ts"
import type { VersionLockfiles } from "../domain/modules/version-lockfiles.ts"
import type { NodeStatus, NodeStore, ServiceStatus } from "../domain/nodes.ts"
import type { Notifications } from "../domain/notifications/notifications.ts"
import type { Authorizations } from "../domain/oauth/authorizations.ts"
import type { ClientTokens } from "../domain/oauth/client-tokens.ts"
import type { OAuthClients } from "../domain/oauth/clients.ts"
import type { Devices } from "../domain/oauth/devices.ts"
import type { Chat } from "../domain/openai.ts"
import type { Members } from "../domain/organisations/members.ts"
import type { OrgInvitations } from "../domain/organisations/org-invitations.ts"
import type { Organisations } from "../domain/organisations/organisations.ts"
import type { Sqlite } from "../domain/owner-databases.ts"
import type { QueuedRuns } from "../domain/queue/queued-runs.ts"
import type { RunQueue } from "../domain/queue/run-queue.ts"
import type { Previews } from "../domain/requests/preview-pass.ts"
import type { ValRequests } from "../domain/requests/val-requests.ts"
import type { Calls } from "../domain/runs/calls.ts"
import type { RequestContents } from "../domain/runs/contents/request-content.ts"
import type { Evaluations } from "../domain/runs/eval-code.ts"
import type { RunFollowers } from "../domain/runs/follow/follow-run.ts"
import type { LiveRuns } from "../domain/runs/live-runs.ts"
import type { Replays } from "../domain/runs/replay/replay-run.ts"
import type { Runs } from "../domain/runs/runs.ts"
import type { Schedules } from "../domain/schedules/schedules.ts"
import type { Secrets } from "../domain/secrets/secrets.ts"
import type { ValSecrets } from "../domain/secrets/val-secrets.ts"
import type { RunStats } from "../domain/stats/stats.ts"
import type { Telemetry } from "../domain/telemetry/telemetry.ts"
import type { ValStorage } from "../domain/val-storage.ts"
import type { Forks } from "../domain/vals/forks.ts"
import type { ImportedVals } from "../domain/vals/import-vals.ts"
import type { References } from "../domain/vals/references.ts"
import type { ValLists } from "../domain/vals/val-lists.ts"
import type { CodeParser } from "../domain/vals/val-source.ts"
import type { Vals } from "../domain/vals/vals.ts"
import type { Versions } from "../domain/vals/versions.ts"
import type { Deliveries } from "../domain/webhooks/deliveries.ts"
import type { Webhooks } from "../domain/webhooks/webhooks.ts"
import type { SessionCookie } from "./auth/session-cookie.ts"
import type { McpPool } from "./mcp/mcp-pool.ts"
import type { Log } from "./ops/log.ts"
import type { DatabaseCounts, MailCounts } from "./ops/metrics.ts"
import type { MetricsAccess } from "./ops/metrics-access.ts"
import type { DocPages } from "./pages/doc-pages.ts"
import type { WebApp } from "./pages/page-files.ts"
import type { BodyBudget } from "./request/body-budget.ts"
import type { LargeBodies } from "./request/large-bodies.ts"
import type { LargeSaves } from "./request/large-saves.ts"
import type { Links } from "./response/links.ts"
import type { ResponseRooms } from "./response/response-room.ts"

/** The nouns: each is an object with its rules as methods. `composition/` builds them. */
export interface Nouns {
  readonly accounts: Accounts
  readonly allowances: Allowances
  readonly audit: AuditStore
  readonly authorizations: Authorizations
  readonly backups: Backups
  readonly blobs: Blobs
  readonly valStorage: ValStorage
  readonly branches: Branches
  readonly calls: Calls
  readonly chat: Chat
  readonly clientTokens: ClientTokens
  readonly connections: Connections
  readonly devices: Devices
  readonly clock: Clock
  readonly comments: Comments
  readonly deliveries: Deliveries
  readonly differences: Differences
  readonly members: Members
  readonly merges: Merges
  readonly fileHistory: FileHistory
  readonly emailAddresses: EmailAddresses
  readonly evaluations: Evaluations
  readonly fileSaves: FileSaves
  readonly files: Files
  readonly moduleFiles: ModuleFiles
  readonly followers: RunFollowers
  readonly forks: Forks
  readonly formatting: Formatting
  readonly idempotency: Idempotency
  readonly identities: Identities
  readonly invitations: Invitations
  readonly likes: Likes
  readonly liveRuns: LiveRuns
  readonly nodes: Pick<NodeStore, "listPage">
  readonly notifications: Notifications
  readonly oauthClients: OAuthClients
  readonly organisations: Organisations
  readonly orgInvitations: OrgInvitations
  readonly outgoingMail: OutgoingMail
  readonly parser: CodeParser
  readonly previews: Previews
  readonly providerSignIn: ProviderSignIn
  readonly queue: RunQueue
  readonly queuedRuns: QueuedRuns
  readonly references: References
  readonly replays: Replays
  readonly requestContents: RequestContents
  readonly runner: Runner
  readonly runs: Runs
  readonly runStats: RunStats
  readonly schedules: Schedules
  readonly secrets: Secrets
  readonly sessions: Sessions
  readonly signInLinks: SignInLinks
  readonly sqlite: Sqlite
  readonly standardModules: StandardModules
  readonly telemetry: Telemetry
  readonly testMails: TestMails
  readonly tokens: Tokens
  readonly tokenUses: TokenUses
  readonly uploads: Uploads
  readonly usage: UsageReader
  readonly users: Users
  readonly importedVals: ImportedVals
  readonly valLists: ValLists
  readonly valRequests: ValRequests
  readonly vals: Vals
  readonly valSecrets: ValSecrets
  readonly versionLockfiles: VersionLockfiles
  readonly versions: Versions
  readonly webhooks: Webhooks
  readonly api: ApiParts
}

/** The settings and pages of the API, and the state of the server as it reports it. */
export interface ApiParts {
  readonly version: string
  readonly links: Links
  readonly log: Log
  /** Whether request lines contain client addresses. */
  readonly hasAddressesInLog: boolean
  readonly slowRequests: SlowLog
  /** Undefined where traces are off. */
  readonly tracer: Tracer | undefined
  /** The spans that this server has sent; undefined where traces are off. */
  spanCounts(): SpanCounts | undefined
  readonly metricsAccess: MetricsAccess
  readonly bodyBytesMax: number
  /** Bytes of the body of a request that contains a mail. */
  readonly mailBodyBytesMax: number
  readonly bodyBudget: BodyBudget
  readonly largeBodies: LargeBodies
  readonly largeSaves: LargeSaves
  readonly responseRooms: ResponseRooms
  readonly mcpPool: McpPool
  readonly rateLimits: RateLimits
  readonly sessionCookie: SessionCookie
  /** Whether clients without a token may call public vals. */
  readonly allowsAnonymousRuns: boolean
  /** Host and port under which each val has its own host name. */
  readonly valsDomain: string
  /** The documentation, in Markdown. */
  readonly docs: DocPages
  /** What the sign-in page calls the OpenID Connect provider; null for none. */
  readonly providerName: string | null
  /** The web app, built on first use unless a build exists. */
  webApp(): Promise<WebApp>
  /** Whether the isolation is too weak for more than one user. */
  isForOneUser(): boolean
  /** Weaknesses of the isolation of vals, each a sentence. */
  isolationWarnings(): readonly string[]
  readonly refusals: Pick<Counter<ErrorCode>, "list">
  readonly loopDelay: LoopDelay
  /** The counts of the mail server; undefined if there is none. */
  mailStats(): MailCounts | undefined
  /** Undefined if the server sends no mail, or cannot count what waits. */
  readSentMail(): Promise<SentStats | undefined>
  /** Undefined if the server cannot count what waits. */
  readSentEvents(): Promise<SentStats | undefined>
  /** Throws when the database is unavailable. */
  checkDatabase(): Promise<{ readonly database: string; readonly schemaVersion: number }>
  databaseStats(): DatabaseCounts
  /** How this node stands with the database. */
  nodeStatus(): NodeStatus
  /** How the other servers responded that this node needs. */
  serviceStatus(): readonly ServiceStatus[]
  /** Whether the server is about to stop: balancers should send nothing more. */
  isStopping(): boolean
}
