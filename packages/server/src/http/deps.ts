import type { BlobDeps } from "../domain/blobs.ts"
import type { CommentDeps } from "../domain/comments.ts"
import type { ExecuteDeps } from "../domain/execute-run.ts"
import type { RunFollowers } from "../domain/follow-run.ts"
import type { IdempotencyDeps } from "../domain/idempotency.ts"
import type { LikeDeps } from "../domain/likes.ts"
import type { OwnerDatabaseDeps } from "../domain/owner-databases.ts"
import type { RateLimits } from "../domain/rate-limit.ts"
import type { ReferenceDeps } from "../domain/references.ts"
import type { RunTokens } from "../domain/run-tokens.ts"
import type { SecretDeps } from "../domain/secrets.ts"
import type { StandardModules } from "../domain/standard-modules.ts"
import type { TokenUses } from "../domain/token-uses.ts"
import type { UsageDeps } from "../domain/usage.ts"
import type { UserDeps } from "../domain/users.ts"
import type { ValDeps } from "../domain/vals.ts"
import type { VersionLockDeps } from "../domain/version-locks.ts"
import type { VersionDeps } from "../domain/versions.ts"
import type { Links } from "./links.ts"
import type { Log } from "./log.ts"

/** What the rules need. */
export type DomainDeps = ValDeps &
  VersionDeps &
  VersionLockDeps &
  LikeDeps &
  CommentDeps &
  ReferenceDeps &
  ExecuteDeps &
  UserDeps &
  UsageDeps &
  SecretDeps &
  BlobDeps &
  OwnerDatabaseDeps &
  IdempotencyDeps

/** A page with the files it loads. */
export interface BuiltPage {
  readonly html: string
  readonly assets: ReadonlyMap<string, { readonly contentType: string; readonly body: Uint8Array }>
}

/** What the API needs beyond the rules. */
export interface HttpDeps extends DomainDeps {
  readonly links: Links
  readonly log: Log
  readonly version: string
  readonly bodyBytesMax: number
  readonly rateLimits: RateLimits
  readonly tokenUses: TokenUses
  readonly followers: RunFollowers
  readonly runTokens: RunTokens
  readonly standardModules: StandardModules
  /** Turns TypeScript into what a browser runs. */
  toJavaScript(code: string, ownerId: string): Promise<string>
  /** The page at `/docs`, built when it is first asked for. */
  docsPage(): Promise<BuiltPage>
  /** Throws when the database does not answer. */
  checkDatabase(): Promise<{ readonly database: string; readonly schemaVersion: number }>
  databaseStats(): { readonly connections: number; readonly inUse: number; readonly waiting: number }
}
