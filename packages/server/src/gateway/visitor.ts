import { AppError } from "../domain/app-error.ts"
import type { Caller } from "../domain/caller.ts"
import { hasTokenShape } from "../domain/token-text.ts"
import { type AuthenticationDeps, authenticate } from "../domain/tokens.ts"
import { canSee, type Val } from "../domain/vals.ts"
import type { GatewayDeps } from "./deps.ts"

/** Who sent a request, as far as their `Authorization` header says. */
export interface Visitor {
  /** Absent unless the header is a token of ours that may read vals. */
  readonly caller: Pick<Caller, "userId"> | undefined
  /** The header is for us: no val must see it. */
  readonly isForUs: boolean
}

/** Somebody of whom it is known who they are, and where they are. */
export interface KnownVisitor {
  readonly caller: Pick<Caller, "userId">
  address(): string
}

/** Somebody without a token. */
export const stranger: Visitor = { caller: undefined, isForUs: false }

/** A secret string of ours, even one that is no longer valid or is of no use here, and whatever it is wrapped in. */
const tokenPattern = /hamlet_(?:session_|link_)?[0-9A-Za-z]{49}/

/** Finds out who is behind the header. Other headers than ours are the val's own business, so that none is refused. */
export async function identify(
  deps: AuthenticationDeps & Pick<GatewayDeps, "tokenUses">,
  authorization: string | undefined,
): Promise<Visitor> {
  if (authorization === undefined) return stranger
  const isForUs = tokenPattern.test(authorization)
  const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
  if (token === undefined || !hasTokenShape(token)) return { caller: undefined, isForUs }
  try {
    const caller = await authenticate(deps, token)
    deps.tokenUses.note(caller.tokenId, caller.lastUsedAt, deps.now())
    return { caller: caller.scopes.has("val:read") ? caller : undefined, isForUs: true }
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_token") return { caller: undefined, isForUs }
    throw error
  }
}

/** Whether the val answers this visitor at all, or "wrong type" where its owner may be told why it does not. */
export function admit(val: Val | undefined, { caller }: Visitor): "yes" | "no" | "wrong type" {
  if (!val || !canSee(val, caller)) return "no"
  if (val.type === "http") return "yes"
  return isOwner(val, caller) ? "wrong type" : "no"
}

/** Whether the errors of the val are the visitor's business. */
export function isOwner(val: Val, caller: Visitor["caller"]): boolean {
  return caller?.userId === val.ownerId
}

/** Whoever has a pass is let in to its val as the owner is. */
export function ownerOf(val: Val | undefined): Visitor["caller"] {
  return val && { userId: val.ownerId }
}
