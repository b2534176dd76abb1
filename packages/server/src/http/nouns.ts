import type { ErrorCode } from "@hamlet/contract"
import type { AccountDeps } from "../domain/accounts/accounts.ts"
import type { AuditStore } from "../domain/accounts/audit.ts"
import type { EmailAddressDeps } from "../domain/accounts/email-address.ts"
import type { IdempotencyDeps } from "../domain/accounts/idempotency.ts"
import type { InvitationDeps } from "../domain/accounts/invitations.ts"
import type { SessionDeps } from "../domain/accounts/sessions.ts"
import type { TokenUses } from "../domain/accounts/token-uses.ts"
import type { UserDeps } from "../domain/accounts/users.ts"
import type { Backups } from "../domain/backups.ts"
import type { BlobDeps } from "../domain/blobs/blobs.ts"
import type { SentMail } from "../domain/emails/deliver-email.ts"
import type { SendEmailDeps } from "../domain/emails/send-email.ts"
import type { IdentityDeps } from "../domain/identities/identities.ts"
import type { RateLimits } from "../domain/limits/rate-limit.ts"
import type { UsageDeps } from "../domain/limits/usage.ts"
import type { TestMailDeps } from "../domain/mail/test-mail.ts"
import type { FormatDeps } from "../domain/modules/format-code.ts"
import type { StandardModules } from "../domain/modules/standard-modules.ts"
import type { VersionTypeDeps } from "../domain/modules/version-types.ts"
import type { NotificationDeps } from "../domain/notifications/notifications.ts"
import type { OAuthDeps } from "../domain/oauth/oauth.ts"
import type { ChatDeps } from "../domain/openai.ts"
import type { OwnerDatabaseDeps } from "../domain/owner-databases.ts"
import type { EnqueueDeps } from "../domain/queue/enqueue-run.ts"
import type { PreviewDeps } from "../domain/requests/preview-pass.ts"
import type { ValRequestDeps } from "../domain/requests/val-requests.ts"
import type { EvalDeps } from "../domain/runs/eval-code.ts"
import type { RunFollowers } from "../domain/runs/follow/follow-run.ts"
import type { ScheduleDeps } from "../domain/schedules/schedules.ts"
import type { SecretDeps } from "../domain/secrets/secrets.ts"
import type { ValSecretDeps } from "../domain/secrets/val-secrets.ts"
import type { StatDeps } from "../domain/stats/stats.ts"
import type { CommentDeps } from "../domain/vals/comments.ts"
import type { ForkDeps } from "../domain/vals/forks.ts"
import type { ImportDeps } from "../domain/vals/import-vals.ts"
import type { LikeDeps } from "../domain/vals/likes.ts"
import type { OwnValStore } from "../domain/vals/own-vals.ts"
import type { ReferenceDeps } from "../domain/vals/references.ts"
import type { ValDeps } from "../domain/vals/vals.ts"
import type { VersionDeps } from "../domain/vals/versions.ts"
import type { SentEvents } from "../domain/webhooks/send-delivery.ts"
import type { WebhookDeps } from "../domain/webhooks/webhooks.ts"
import type { Counter } from "../shared/counter.ts"
import type { LoopDelay } from "../shared/loop-delay.ts"
import type { SessionCookie } from "./auth/session-cookie.ts"
import type { Log } from "./ops/log.ts"
import type { MailCounts } from "./ops/metrics.ts"
import type { DocPages } from "./pages/doc-pages.ts"
import type { DocsPage, WebApp } from "./pages/page-files.ts"
import type { LargeBodies } from "./request/large-bodies.ts"
import type { Links } from "./response/links.ts"

/**
 * What the handlers use. A route file takes the nouns that it needs and passes each to the domain
 * functions of that noun. `composition/<noun>.ts` builds the parts.
 */
export interface Nouns {
  /** Users with their tokens, sessions, identities, secrets and quotas. */
  readonly accounts: UserDeps &
    AccountDeps &
    InvitationDeps &
    SessionDeps &
    IdentityDeps &
    NotificationDeps &
    OAuthDeps &
    SecretDeps &
    UsageDeps &
    EmailAddressDeps &
    IdempotencyDeps & { readonly audit: AuditStore; readonly tokenUses: TokenUses }
  readonly vals: ValDeps &
    ImportDeps &
    ForkDeps &
    VersionDeps &
    LikeDeps &
    CommentDeps &
    ValSecretDeps &
    ReferenceDeps & { readonly ownVals: OwnValStore }
  readonly modules: VersionTypeDeps &
    FormatDeps & {
      readonly standardModules: StandardModules
      /** Compiles TypeScript for browsers. */
      toJavaScript(code: string, ownerId: string): Promise<string>
    }
  readonly runs: EvalDeps &
    EnqueueDeps &
    StatDeps &
    TestMailDeps &
    ValRequestDeps &
    PreviewDeps & { readonly followers: RunFollowers }
  readonly schedules: ScheduleDeps
  /** Blobs, SQLite databases and backups. */
  readonly userData: BlobDeps & OwnerDatabaseDeps & { readonly backups: Backups }
  /** Subscriptions to events. */
  readonly webhooks: WebhookDeps & {
    /** For the metrics; undefined when the database does not say. */
    readSentEvents(): Promise<SentEvents | undefined>
  }
  /** Services outside that vals use through the server. */
  readonly services: ChatDeps &
    SendEmailDeps & {
      /** Undefined if the server sends no mail, or cannot count what waits. */
      readSentMail(): Promise<SentMail | undefined>
    }
  readonly api: ApiParts
}

/** What only the API needs: its settings, its pages and the state of the server. */
export interface ApiParts {
  readonly version: string
  readonly links: Links
  readonly log: Log
  /** Whether request lines contain client addresses. */
  readonly hasAddressesInLog: boolean
  readonly bodyBytesMax: number
  /** The same for requests that contain a mail. */
  readonly mailBodyBytesMax: number
  readonly largeBodies: LargeBodies
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
  /** The page at `/docs`, built on first use. */
  docsPage(): Promise<DocsPage>
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
  /** Throws when the database is unavailable. */
  checkDatabase(): Promise<{ readonly database: string; readonly schemaVersion: number }>
  databaseStats(): {
    readonly connections: number
    readonly inUse: number
    readonly waiting: number
  }
}
