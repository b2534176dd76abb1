import type { Scope } from "@hamlet/contract"
import { AppError } from "./app-error.ts"

/** The user on whose behalf a request acts, and what their token allows. */
export interface Caller {
  readonly userId: string
  readonly username: string
  readonly tokenId: string
  readonly scopes: ReadonlySet<Scope>
  /**
   * Where sessions that the caller begins come from; absent for a run, with whose token nobody
   * signs in.
   */
  readonly root?: SessionRoot
  /**
   * How many vals have called one another until it came to this request; absent when it comes from
   * elsewhere.
   */
  readonly depth?: number
  /** Somebody in the web app: their token is a cookie of a browser. */
  readonly isInBrowser?: boolean
  /** The token belongs to a process that runs a val, and ends with it. */
  readonly isOfRun?: boolean
}

/**
 * The token that sessions come from: they end when it is revoked, and no later than it does. The id
 * is null where the server itself let somebody in.
 */
export interface SessionRoot {
  readonly tokenId: string | null
  readonly expiresAt: number | null
}

/** What a route asks of its caller. */
export interface AccessRule {
  readonly auth: "required" | "optional" | "none"
  readonly scope?: Scope
}

/**
 * Refuses a caller who lacks the token or the scope that a route needs. Clients look for the words
 * "required permissions".
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

/** What a caller is told whose token is missing. */
export function unauthenticated(): AppError {
  return new AppError(
    "unauthenticated",
    "Cannot do this without a token: send one as a bearer token in the Authorization header",
  )
}
