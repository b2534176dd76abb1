import type { ErrorCode } from "@hamlet/contract"
import type { AccountDeps } from "../domain/accounts/accounts.ts"
import type { AuditStore } from "../domain/accounts/audit.ts"
import type { IdempotencyDeps } from "../domain/accounts/idempotency.ts"
import type { InvitationDeps } from "../domain/accounts/invitations.ts"
import type { RunTokens } from "../domain/accounts/run-tokens.ts"
import type { SessionDeps } from "../domain/accounts/sessions.ts"
import type { TokenUses } from "../domain/accounts/token-uses.ts"
import type { UserDeps } from "../domain/accounts/users.ts"
import type { BackupDeps } from "../domain/backups.ts"
import type { BlobDeps } from "../domain/blobs/blobs.ts"
import type { RateLimits } from "../domain/limits/rate-limit.ts"
import type { UsageDeps } from "../domain/limits/usage.ts"
import type { StandardModules } from "../domain/modules/standard-modules.ts"
import type { VersionLockfileDeps } from "../domain/modules/version-lockfiles.ts"
import type { OwnerDatabaseDeps } from "../domain/owner-databases.ts"
import type { PreviewDeps } from "../domain/requests/preview-pass.ts"
import type { ValRequestDeps } from "../domain/requests/val-requests.ts"
import type { EvalDeps } from "../domain/runs/eval-code.ts"
import type { ExecuteDeps } from "../domain/runs/execute-run.ts"
import type { RunFollowers } from "../domain/runs/follow-run.ts"
import type { SecretDeps } from "../domain/secrets/secrets.ts"
import type { StatDeps } from "../domain/stats/stats.ts"
import type { CommentDeps } from "../domain/vals/comments.ts"
import type { ImportDeps } from "../domain/vals/import-vals.ts"
import type { LikeDeps } from "../domain/vals/likes.ts"
import type { OwnValDeps } from "../domain/vals/own-vals.ts"
import type { ReferenceDeps } from "../domain/vals/references.ts"
import type { ValDeps } from "../domain/vals/vals.ts"
import type { VersionDeps } from "../domain/vals/versions.ts"
import type { Counter } from "../shared/counter.ts"
import type { LoopDelay } from "../shared/loop-delay.ts"
import type { SessionCookie } from "./auth/session-cookie.ts"
import type { Log } from "./ops/log.ts"
import type { LargeBodies } from "./request/large-bodies.ts"
import type { Links } from "./response/links.ts"

/** What the rules need. */
export type DomainDeps = ValDeps &
  ImportDeps &
  VersionDeps &
  VersionLockfileDeps &
  LikeDeps &
  CommentDeps &
  ReferenceDeps &
  ExecuteDeps &
  EvalDeps &
  ValRequestDeps &
  PreviewDeps &
  UserDeps &
  AccountDeps &
  InvitationDeps &
  SessionDeps &
  UsageDeps &
  StatDeps &
  OwnValDeps &
  SecretDeps &
  BlobDeps &
  BackupDeps &
  OwnerDatabaseDeps &
  IdempotencyDeps

/** A page with the files it loads. */
export interface BuiltPage {
  readonly html: string
  readonly assets: ReadonlyMap<string, { readonly contentType: string; readonly body: Uint8Array }>
}

/** The web app: one page for all of its addresses, and the files it loads. */
export interface WebApp {
  html(options: {
    readonly nonce: string
    readonly valsDomain: string
    readonly version: string
    /** What everybody who looks at a page should know. */
    readonly notice: string | null
  }): string
  findFile(name: string): WebFile | undefined
}

/** A file on disk whose name has a hash of its content; its compressed forms lie beside it. */
export interface WebFile {
  readonly path: string
  readonly contentType: string
  readonly encodings: readonly ("br" | "gzip")[]
}

/** What the API needs beyond the rules. */
export interface HttpDeps extends DomainDeps {
  /** What everybody has to know about the isolation of vals, in sentences. */
  isolationWarnings(): readonly string[]
  readonly audit: AuditStore
  readonly links: Links
  readonly log: Log
  /** Whether the lines of requests have the addresses of clients. */
  readonly hasAddressesInLog: boolean
  readonly refusals: Pick<Counter<ErrorCode>, "list">
  readonly version: string
  readonly bodyBytesMax: number
  /** Whether clients without a token may call public vals. */
  readonly allowsAnonymousRuns: boolean
  readonly largeBodies: LargeBodies
  readonly loopDelay: LoopDelay
  readonly rateLimits: RateLimits
  readonly tokenUses: TokenUses
  readonly followers: RunFollowers
  readonly runTokens: RunTokens
  readonly sessionCookie: SessionCookie
  readonly standardModules: StandardModules
  /** Turns TypeScript into what a browser runs. */
  toJavaScript(code: string, ownerId: string): Promise<string>
  /** The page at `/docs`, built when it is first asked for. */
  docsPage(): Promise<BuiltPage>
  /** The web app, built when it is first asked for, unless somebody has built it. */
  webApp(): Promise<WebApp>
  /** Host and port under which vals have addresses of their own. */
  readonly valsDomain: string
  /** Throws when the database does not answer. */
  checkDatabase(): Promise<{ readonly database: string; readonly schemaVersion: number }>
  databaseStats(): {
    readonly connections: number
    readonly inUse: number
    readonly waiting: number
  }
}
