import { randomBytes } from "node:crypto"
import { type Scope, scope, type token } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import { makeOnce } from "@hamlet/kit"
import type { Caller } from "../access/caller.ts"
import type { Role } from "../access/roles.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"
import { hashToken, hasTokenShape, makeTokenText, type TokenKind } from "./token-text.ts"

/** A token as its owner sees it. Only the SHA-256 of its secret string is stored. */
export type Token = Stored<typeof token>

/** What the owner of a token chooses. */
export type TokenInput = Pick<Token, "name" | "scopes" | "expiresAt">

/** A token to be stored. */
export interface NewTokenRecord extends Token {
  readonly userId: string
  readonly hash: string
  /** The val whose storage a run token reaches. */
  readonly valId?: string | undefined
  /** The organisation that the token acts for, and for no other owner. */
  readonly ownerId?: string | undefined
}

/** A token and its user, as a lookup by hash returns them. */
export interface FoundToken {
  readonly tokenId: string
  readonly kind: TokenKind
  readonly hash: string
  readonly scopes: ReadonlySet<Scope>
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
  readonly userId: string
  readonly username: string
  /** The roles of the user, by the id of the owner; the user itself is one of them. */
  readonly roles: ReadonlyMap<string, Role>
  readonly isSuspended: boolean
  /** The token belongs to a process that runs a val, and is revoked when the process ends. */
  readonly isOfRun: boolean
  /** The val that the process runs; null for unsaved code and for other tokens. */
  readonly valId: string | null
  /** The organisation that the token acts for, and for no other owner; null for most tokens. */
  readonly ownerId: string | null
  readonly ownerName: string | null
  /** For sessions: the token they were derived from, and when that token expires. */
  readonly parentId: string | null
  readonly parentExpiresAt: number | null
}

/**
 * Stores tokens. `list` and `remove` ignore run tokens, sessions and access tokens of clients.
 * Sessions end with the token they were derived from.
 */
export interface TokenStore {
  findHolder(hash: string): Promise<FoundToken | undefined>
  list(userId: string, page: PageRequest): Promise<Page<Token>>
  add(token: NewTokenRecord): Promise<void>
  /** Sets the token of the HAMLET_TOKEN setting and revokes the previous one. */
  replaceSettingToken(token: NewTokenRecord): Promise<void>
  /** Returns false when the user has no such token. */
  remove(userId: string, id: string): Promise<boolean>
  /** Stores when tokens were last used. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>
  /** Adds and removes run tokens of a node in one transaction. */
  changeRunTokens(
    nodeId: string,
    added: readonly NewTokenRecord[],
    removedIds: readonly string[],
  ): Promise<void>
  /** Removes all run tokens of a node. */
  removeRunTokensOf(nodeId: string): Promise<void>
  /** Removes the run tokens of nodes that are gone. */
  removeLostRunTokens(): Promise<void>
}

/** The run tokens of this node, which are valid at once and revoked at once. */
export interface LiveTokens {
  /** Undefined when it is not a run token of this node. */
  find(hash: string): FoundToken | "ended" | undefined
}

/** All scopes, which the first user's token has. */
export const allScopes: readonly Scope[] = scope.options

/** The scopes of a user who is not an administrator. */
export const ordinaryScopes: readonly Scope[] = allScopes.filter(
  (scope) => scope !== "admin" && scope !== "backup",
)

/** A token, and the only copy of its secret string. */
export interface ShownToken {
  readonly token: Token
  readonly text: string
}

/** The rules of tokens. */
export type Tokens = ReturnType<typeof createTokens>

/** Creates the rules of tokens. */
export function createTokens(store: TokenStore, runTokens: LiveTokens, clock: Clock) {
  const find = (hash: string) => {
    const live = runTokens.find(hash)
    if (live === "ended") return undefined
    return live ?? store.findHolder(hash)
  }
  const findValid = async (text: string, kind: TokenKind): Promise<FoundToken | undefined> => {
    const hash = hashToken(text)
    const found = hasTokenShape(text, kind) ? await find(hash) : undefined
    // The timing of the index lookup reveals nothing useful about a 256-bit hash. The comparison that
    // decides takes constant time.
    if (found?.kind !== kind || !isSame(found.hash, hash)) return undefined
    return found.expiresAt !== null && found.expiresAt <= clock.now() ? undefined : found
  }
  /** Creates and stores a token. */
  const issue = async (
    userId: string,
    input: TokenInput,
    ownerId?: string,
  ): Promise<ShownToken> => {
    const { token, record, text } = makeToken(clock, userId, input)
    await store.add({ ...record, ownerId })
    return { token, text }
  }
  return {
    issue,
    /** Authenticates a token. The error does not say why the token is invalid. */
    async authenticate(text: string): Promise<Caller> {
      const found = await findValid(text, "token")
      if (!found) throw invalidToken()
      return toCaller(found)
    },
    /** Authenticates a session cookie. Returns undefined when the session has ended. */
    async authenticateSession(text: string): Promise<Caller | undefined> {
      const found = await findValid(text, "session")
      return found && toCaller(found)
    },
    list: (caller: Caller, page: PageRequest) => store.list(caller.actorId, page),
    /**
     * Creates a token for the caller, with at most the scopes of the caller's own token. One that is
     * made for an organisation acts for that organisation only.
     */
    async create(caller: Caller, input: TokenInput): Promise<ShownToken> {
      const missing = input.scopes.find((wanted) => !caller.scopes.has(wanted))
      if (missing) throw scopeEscalation(missing)
      if (input.expiresAt !== null && input.expiresAt <= clock.now()) {
        const issues = [{ path: "expiresAt", message: "must be in the future" }]
        throw new AppError(
          "invalid_request",
          'Cannot create the token: "expiresAt" must be in the future',
          { issues },
        )
      }
      const { actorId, ownerId } = caller
      return issue(actorId, input, ownerId === actorId ? undefined : ownerId)
    },
    /** Revokes a token of the caller. It stops working at once. */
    async revoke(caller: Caller, id: string): Promise<void> {
      if (await store.remove(caller.actorId, id)) return
      throw new AppError(
        "token_not_found",
        `Cannot revoke token "${id}": you have none with that id`,
      )
    },
  }
}

function invalidToken(): AppError {
  return new AppError(
    "invalid_token",
    "Cannot accept the token: it is malformed, unknown, expired or revoked",
  )
}

/** The error for a token with a scope that its creator does not have. */
export function scopeEscalation(missing: Scope): AppError {
  return new AppError(
    "scope_escalation",
    `Cannot create a token with scope ${missing}: your token does not have the required permissions`,
  )
}

function toCaller(found: FoundToken): Caller {
  const { kind, tokenId, expiresAt, parentId, parentExpiresAt } = found
  if (found.isSuspended)
    throw new AppError(
      "user_suspended",
      `Cannot do this: the account of user "${found.username}" is suspended`,
    )
  if (found.ownerId !== null) return toLimitedCaller(found, found.ownerId)
  const root =
    kind === "session" ? { tokenId: parentId, expiresAt: parentExpiresAt } : { tokenId, expiresAt }
  return {
    ...(found.isOfRun ? {} : { root }),
    ...(kind === "session" ? { isInBrowser: true } : {}),
    actorId: found.userId,
    actorName: found.username,
    ownerId: found.userId,
    ownerName: found.username,
    roles: found.roles,
    tokenId,
    scopes: found.scopes,
    expiresAt,
    lastUsedAt: found.lastUsedAt,
    isOfRun: found.isOfRun,
    ...(found.valId === null ? {} : { valId: found.valId }),
  }
}

/** The token of an organisation ends with the membership. It starts no sessions and administers nothing. */
function toLimitedCaller(found: FoundToken, ownerId: string): Caller {
  const role = found.roles.get(ownerId)
  if (role === undefined) throw invalidToken()
  return {
    actorId: found.userId,
    actorName: found.username,
    ownerId,
    ownerName: found.ownerName ?? "",
    roles: new Map([[ownerId, role]]),
    tokenId: found.tokenId,
    scopes: new Set([...found.scopes].filter((scope) => ordinaryScopes.includes(scope))),
    expiresAt: found.expiresAt,
    lastUsedAt: found.lastUsedAt,
  }
}

/** Creates a token without storing it. `chosen` is a secret string set by the operator. */
export function makeToken(
  clock: Clock,
  userId: string,
  input: TokenInput,
  chosen?: string,
): ShownToken & { readonly record: NewTokenRecord } {
  const made = makeOnce(() => ({
    id: clock.newId(),
    createdAt: clock.now(),
    text: chosen ?? makeTokenText(randomBytes(32)),
  }))
  const { id, createdAt, text } = made
  const token: Token = { id, ...input, createdAt, lastUsedAt: null }
  return { token, record: { ...token, userId, hash: hashToken(text) }, text }
}

function isSame(left: string, right: string): boolean {
  let difference = left.length ^ right.length
  for (let index = 0; index < right.length; index++)
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index)
  return difference === 0
}
