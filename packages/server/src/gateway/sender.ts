import type { Caller } from "../domain/access/caller.ts"
import { asOwner, canSee, rightsOn } from "../domain/access/rights.ts"
import { hasTokenShape, tokenPattern } from "../domain/accounts/token-text.ts"
import { AppError } from "../domain/app-error.ts"
import type { Val } from "../domain/vals/vals.ts"
import { parseAuthorization } from "../shared/headers/authorization-header.ts"
import type { GatewayDeps } from "./deps.ts"

/** The user that a request to a val comes from. */
export type ValCaller = Pick<Caller, "actorId" | "actorName" | "roles">

/** The sender of a request, as its `Authorization` header identifies it. */
export interface GatewaySender {
  /** Undefined unless the header holds a Hamlet token that may read vals. */
  readonly caller: ValCaller | undefined
  /** Whether the header holds a Hamlet token, which no val may see. */
  readonly hasHamletToken: boolean
}

/** A sender that the server itself has authenticated. */
export interface KnownSender {
  readonly caller: ValCaller
  address(): string
}

/** A sender without a token. */
export const anonymous: GatewaySender = { caller: undefined, hasHamletToken: false }

/** Identifies the sender. No header is refused: one without a Hamlet token is meant for the val. */
export async function identify(
  deps: Pick<GatewayDeps, "tokens" | "tokenUses" | "now">,
  authorization: string | undefined,
): Promise<GatewaySender> {
  if (authorization === undefined) return anonymous
  const { scheme = "", credentials = "" } = parseAuthorization(authorization) ?? {}
  if (scheme === "basic")
    return { caller: undefined, hasHamletToken: await hasTokenInside(deps, credentials) }
  const hasHamletToken =
    tokenPattern.test(authorization) ||
    authorization.split(/[\s,]+/).some((word) => tokenPattern.test(decode(word)))
  if (scheme !== "bearer" || !hasTokenShape(credentials))
    return { caller: undefined, hasHamletToken }
  const caller = await findCaller(deps, credentials)
  if (!caller) return { caller: undefined, hasHamletToken }
  // A suspended user sees what an anonymous one sees, and no val sees the token.
  if (caller === "suspended") return { caller: undefined, hasHamletToken: true }
  deps.tokenUses.note(caller, deps.now())
  return { caller: caller.scopes.has("val:read") ? caller : undefined, hasHamletToken: true }
}

/**
 * Whether the user name or the password is a Hamlet token, as some clients send it. It does not
 * authenticate the sender here, but the val must not see it.
 */
async function hasTokenInside(
  deps: Pick<GatewayDeps, "tokens">,
  credentials: string,
): Promise<boolean> {
  const text = decode(credentials)
  if (tokenPattern.test(credentials) || tokenPattern.test(text)) return true
  const end = text.indexOf(":")
  const parts = end < 0 ? [text] : [text.slice(0, end), text.slice(end + 1)]
  // A token that the operator has chosen looks like any password: only the store knows it.
  for (const part of parts) if (hasTokenShape(part) && (await findCaller(deps, part))) return true
  return false
}

/** Decodes Base64 leniently, as a val might do. */
function decode(text: string): string {
  return Buffer.from(text, "base64").toString()
}

async function findCaller(
  deps: Pick<GatewayDeps, "tokens">,
  token: string,
): Promise<Caller | "suspended" | undefined> {
  try {
    return await deps.tokens.authenticate(token)
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_token") return undefined
    if (error instanceof AppError && error.code === "user_suspended") return "suspended"
    throw error
  }
}

/** Whether the sender may call the val. Only those who may see its runs learn that it has the wrong type. */
export function authorize(
  val: Val | undefined,
  { caller }: GatewaySender,
): "yes" | "no" | "wrong type" {
  if (!val || !canSee(val, caller)) return "no"
  if (val.type === "http") return "yes"
  return rightsOn(val, caller).inspect ? "wrong type" : "no"
}

/** A preview pass grants the access of the val's owner. */
export function ownerOf(val: Val | undefined): GatewaySender["caller"] {
  return (
    val && { actorId: val.ownerId, actorName: val.ownerName, roles: asOwner(val.ownerId).roles }
  )
}
