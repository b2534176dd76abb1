import type { Caller } from "../domain/access.ts"
import { hasTokenShape, tokenPattern } from "../domain/accounts/token-text.ts"
import {
  type Authenticated,
  type AuthenticationDeps,
  authenticate,
} from "../domain/accounts/tokens.ts"
import { AppError } from "../domain/app-error.ts"
import { canSee, type Val } from "../domain/vals/vals.ts"
import { parseAuthorization } from "../shared/authorization-header.ts"
import type { GatewayDeps } from "./deps.ts"

/** Who sent a request, as far as their `Authorization` header says. */
export interface Principal {
  /** Absent unless the header is a token of ours that may read vals. */
  readonly caller: Pick<Caller, "userId" | "username"> | undefined
  /** The header is for us: no val must see it. */
  readonly isForUs: boolean
}

/** Somebody of whom it is known who they are, and where they are. */
export interface KnownPrincipal {
  readonly caller: Pick<Caller, "userId" | "username">
  address(): string
}

/** Somebody without a token. */
export const anonymous: Principal = { caller: undefined, isForUs: false }

/**
 * Finds out who is behind the header. Other headers than ours are the val's own business, so that
 * none is refused.
 */
export async function identify(
  deps: AuthenticationDeps & Pick<GatewayDeps, "tokenUses">,
  authorization: string | undefined,
): Promise<Principal> {
  if (authorization === undefined) return anonymous
  const { scheme = "", credentials = "" } = parseAuthorization(authorization) ?? {}
  if (scheme === "basic")
    return { caller: undefined, isForUs: await hasTokenInside(deps, credentials) }
  const isForUs =
    tokenPattern.test(authorization) ||
    authorization.split(/[\s,]+/).some((word) => tokenPattern.test(decode(word)))
  if (scheme !== "bearer" || !hasTokenShape(credentials)) return { caller: undefined, isForUs }
  const caller = await findCaller(deps, credentials)
  if (!caller) return { caller: undefined, isForUs }
  // A principal who is suspended sees what everybody sees, and no val sees the token.
  if (caller === "suspended") return { caller: undefined, isForUs: true }
  deps.tokenUses.note(caller.tokenId, caller.lastUsedAt, deps.now())
  return { caller: caller.scopes.has("val:read") ? caller : undefined, isForUs: true }
}

/**
 * Whether a user name or a password is one of our tokens, which some clients send in this way. It
 * identifies nobody here, but the val must not see it either.
 */
async function hasTokenInside(deps: AuthenticationDeps, credentials: string): Promise<boolean> {
  const text = decode(credentials)
  if (tokenPattern.test(credentials) || tokenPattern.test(text)) return true
  const end = text.indexOf(":")
  const parts = end < 0 ? [text] : [text.slice(0, end), text.slice(end + 1)]
  // One that the operator has chosen looks like any password: only the store knows it.
  for (const part of parts) if (hasTokenShape(part) && (await findCaller(deps, part))) return true
  return false
}

/** Reads Base64 as leniently as any val may do it. */
function decode(text: string): string {
  return Buffer.from(text, "base64").toString()
}

async function findCaller(
  deps: AuthenticationDeps,
  token: string,
): Promise<Authenticated | "suspended" | undefined> {
  try {
    return await authenticate(deps, token)
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_token") return undefined
    if (error instanceof AppError && error.code === "user_suspended") return "suspended"
    throw error
  }
}

/**
 * Whether the val answers this principal at all, or "wrong type" where its owner may be told why it
 * does not.
 */
export function authorize(
  val: Val | undefined,
  { caller }: Principal,
): "yes" | "no" | "wrong type" {
  if (!val || !canSee(val, caller)) return "no"
  if (val.type === "http") return "yes"
  return isOwner(val, caller) ? "wrong type" : "no"
}

/** Whether the errors of the val are the principal's business. */
export function isOwner(val: Val, caller: Principal["caller"]): boolean {
  return caller?.userId === val.ownerId
}

/** Whoever has a pass is let in to its val as the owner is. */
export function ownerOf(val: Val | undefined): Principal["caller"] {
  return val && { userId: val.ownerId, username: val.ownerName }
}
