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

/** The dependencies of the domain functions that handlers call. */
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

/** A page and the files that it loads. */
export interface BuiltPage {
  readonly html: string
  readonly assets: ReadonlyMap<string, { readonly contentType: string; readonly body: Uint8Array }>
}

/** The web app: one HTML page for all of its paths, and the files that it loads. */
export interface WebApp {
  html(options: {
    readonly nonce: string
    readonly valsDomain: string
    readonly version: string
    /** A warning that every page shows. */
    readonly notice: string | null
  }): string
  findFile(name: string): WebFile | undefined
}

/** A file on disk, named after a hash of its content; its compressed forms are beside it. */
export interface WebFile {
  readonly path: string
  readonly contentType: string
  readonly encodings: readonly ("br" | "gzip")[]
}

/** The dependencies of the API. */
export interface HttpDeps extends DomainDeps {
  /** Weaknesses of the isolation of vals, each a sentence. */
  isolationWarnings(): readonly string[]
  readonly audit: AuditStore
  readonly links: Links
  readonly log: Log
  /** Whether request lines contain client addresses. */
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
  /** Compiles TypeScript for browsers. */
  toJavaScript(code: string, ownerId: string): Promise<string>
  /** The page at `/docs`, built on first use. */
  docsPage(): Promise<BuiltPage>
  /** The web app, built on first use unless a build exists. */
  webApp(): Promise<WebApp>
  /** Host and port under which each val has its own host name. */
  readonly valsDomain: string
  /** Throws when the database is unavailable. */
  checkDatabase(): Promise<{ readonly database: string; readonly schemaVersion: number }>
  databaseStats(): {
    readonly connections: number
    readonly inUse: number
    readonly waiting: number
  }
}
