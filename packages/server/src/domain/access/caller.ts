import type { Scope } from "@hamlet/contract"
import { AppError } from "../app-error.ts"
import type { Role } from "./roles.ts"

/** The authenticated user of a request, and what the token allows. */
export interface Caller {
  /** The person who acts: the author of comments, likes and entries of the audit log. */
  readonly actorId: string
  readonly actorName: string
  /**
   * For whom the caller acts: the person, or an organisation that the person belongs to. The token of
   * a val acts for the owner of the val, and for no person: both are its owner.
   */
  readonly ownerId: string
  readonly ownerName: string
  /** The roles of the person, by the id of the owner; the person itself is one of them. */
  readonly roles: ReadonlyMap<string, Role>
  readonly tokenId: string
  readonly scopes: ReadonlySet<Scope>
  /** When the token expires. Null if it does not; absent if the caller was not found by a token. */
  readonly expiresAt?: number | null
  /** The last use of the token that is stored; null if it has not been used. */
  readonly lastUsedAt?: number | null
  /** The parent of sessions that the caller starts. Absent for run tokens, which cannot sign in. */
  readonly root?: SessionRoot
  /** The number of vals that called each other before this request. Absent: not from a val. */
  readonly depth?: number
  /** The request comes from the web app: the token is a session cookie. */
  readonly isInBrowser?: boolean
  /** The token belongs to a process that runs a val, and is revoked when the process ends. */
  readonly isOfRun?: boolean
  /** The saved val that this process runs. */
  readonly valId?: string
}

/** The owner for whom code is read, and the vals that its code may import. */
export type CodeOwner = Pick<Caller, "ownerId" | "ownerName" | "roles">

/** The caller as one who acts for the owner of a val, whose code is to be read. */
export function forOwnerOf(
  { ownerId, ownerName }: Pick<Caller, "ownerId" | "ownerName">,
  { roles }: Caller,
): CodeOwner {
  return { ownerId, ownerName, roles }
}

/**
 * The token from which sessions are derived. They end when it is revoked, and no later than it
 * expires. The id is null for a sign-in by the operator of the server.
 */
export interface SessionRoot {
  readonly tokenId: string | null
  readonly expiresAt: number | null
}

/** What a route requires of its caller. */
export interface AccessRule {
  readonly auth: "required" | "optional" | "none"
  readonly scope?: Scope
}

/**
 * Throws when the token or the scope that a route requires is missing. Clients match the words
 * "required permissions" in the message.
 */
export function assertAccess(rule: AccessRule, caller: Caller | undefined): void {
  if (!caller) {
    if (rule.auth === "required") throw unauthenticated()
    return
  }
  if (rule.scope && !caller.scopes.has(rule.scope)) {
    throw new AppError(
      "missing_scope",
      `Cannot do this: the token does not have the required permissions (scope ${rule.scope})`,
    )
  }
}

/** Throws where the token acts for an organisation only, and the request concerns the person. */
export function assertPerson({ actorId, ownerName, roles }: Caller): void {
  if (roles.has(actorId)) return
  throw new AppError(
    "missing_scope",
    `Cannot do this: the token does not have the required permissions (it acts for ${ownerName} only)`,
  )
}

/** The error for a request without a token. */
export function unauthenticated(): AppError {
  return new AppError(
    "unauthenticated",
    "Cannot do this without a token: send one as a bearer token in the Authorization header",
  )
}
