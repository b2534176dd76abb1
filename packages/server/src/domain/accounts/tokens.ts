import { randomBytes } from "node:crypto"
import { type Scope, scope } from "@hamlet/contract"
import { makeOnce } from "../../shared/once.ts"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Page, PageRequest } from "../paging.ts"
import { hasTokenShape, makeTokenText, type TokenKind } from "./token-text.ts"

/** A token as its owner sees it. Only the SHA-256 of its secret string is stored. */
export interface Token {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
}

/** What the owner of a token chooses. */
export type TokenInput = Pick<Token, "name" | "scopes" | "expiresAt">

/** A token to be stored. */
export interface NewTokenRecord extends Token {
  readonly userId: string
  readonly hash: string
}

/** A token and its user, as a lookup by hash returns them. */
export interface TokenHolder {
  readonly tokenId: string
  readonly kind: TokenKind
  readonly hash: string
  readonly scopes: ReadonlySet<Scope>
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
  readonly userId: string
  readonly username: string
  readonly isSuspended: boolean
  /** It belongs to a process that runs a val, and is revoked when the process ends. */
  readonly isOfRun: boolean
  /** For sessions: the token they were derived from, and when that token expires. */
  readonly parentId: string | null
  readonly parentExpiresAt: number | null
}

/**
 * Stores tokens. `list` and `remove` ignore run tokens, sessions and access tokens of clients.
 * Sessions end with the token they were derived from.
 */
export interface TokenStore {
  findHolder(hash: string): Promise<TokenHolder | undefined>
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
  find(hash: string): TokenHolder | "ended" | undefined
}

/** What the rules of tokens need. */
export interface TokenDeps {
  readonly tokens: TokenStore
  newId(): string
  now(): number
}

/** All scopes, which the first user's token has. */
export const allScopes: readonly Scope[] = scope.options

/** The scopes of a user who is not an administrator. */
export const ordinaryScopes: readonly Scope[] = allScopes.filter(
  (scope) => scope !== "admin" && scope !== "backup",
)

/** Authenticates a token. The error does not say why the token is invalid. */
export async function authenticate(deps: AuthenticationDeps, text: string): Promise<Authenticated> {
  const holder = await findValid(deps, text, "token")
  if (!holder)
    throw new AppError(
      "invalid_token",
      "Cannot accept the token: it is malformed, unknown, expired or revoked",
    )
  assertActive(holder)
  return toAuthenticated(holder)
}

/** Authenticates a session cookie. Returns undefined when the session has ended. */
export async function authenticateSession(
  deps: AuthenticationDeps,
  text: string,
): Promise<Authenticated | undefined> {
  const holder = await findValid(deps, text, "session")
  if (holder) assertActive(holder)
  return holder && toAuthenticated(holder)
}

function assertActive({ username, isSuspended }: TokenHolder): void {
  if (isSuspended)
    throw new AppError(
      "user_suspended",
      `Cannot do this: the account of user "${username}" is suspended`,
    )
}

async function findValid(
  deps: AuthenticationDeps,
  text: string,
  kind: TokenKind,
): Promise<TokenHolder | undefined> {
  const hash = hashToken(text)
  const holder = hasTokenShape(text, kind) ? await findHolder(deps, hash) : undefined
  // The timing of the index lookup reveals nothing useful about a 256-bit hash. The comparison that
  // decides takes constant time.
  if (holder?.kind !== kind || !isSame(holder.hash, hash)) return undefined
  return holder.expiresAt !== null && holder.expiresAt <= deps.now() ? undefined : holder
}

function toAuthenticated(holder: TokenHolder): Authenticated {
  const { kind, tokenId, expiresAt, parentId, parentExpiresAt } = holder
  const root =
    kind === "session" ? { tokenId: parentId, expiresAt: parentExpiresAt } : { tokenId, expiresAt }
  return {
    ...(holder.isOfRun ? {} : { root }),
    ...(kind === "session" ? { isInBrowser: true } : {}),
    userId: holder.userId,
    username: holder.username,
    tokenId,
    scopes: holder.scopes,
    expiresAt,
    lastUsedAt: holder.lastUsedAt,
    isOfRun: holder.isOfRun,
  }
}

/** What authentication needs. */
export interface AuthenticationDeps extends Pick<TokenDeps, "tokens" | "now"> {
  readonly runTokens: LiveTokens
}

/** A caller with the expiry and last use of its token. */
export type Authenticated = Caller & Pick<TokenHolder, "expiresAt" | "lastUsedAt" | "isOfRun">

async function findHolder(
  deps: AuthenticationDeps,
  hash: string,
): Promise<TokenHolder | undefined> {
  const live = deps.runTokens.find(hash)
  if (live === "ended") return undefined
  return live ?? deps.tokens.findHolder(hash)
}

/** Creates a token for the caller, with at most the scopes of the caller's own token. */
export async function createToken(
  deps: TokenDeps,
  caller: Caller,
  input: TokenInput,
): Promise<{ readonly token: Token; readonly text: string }> {
  const missing = input.scopes.find((wanted) => !caller.scopes.has(wanted))
  if (missing) {
    throw new AppError(
      "scope_escalation",
      `Cannot create a token with scope ${missing}: your token does not have the required permissions`,
    )
  }
  if (input.expiresAt !== null && input.expiresAt <= deps.now()) {
    const issues = [{ path: "expiresAt", message: "must be in the future" }]
    throw new AppError(
      "invalid_request",
      'Cannot create the token: "expiresAt" must be in the future',
      { issues },
    )
  }
  return issueToken(deps, caller.userId, input)
}

/** Creates and stores a token. `text` is the only copy of its secret string. */
export async function issueToken(
  deps: TokenDeps,
  userId: string,
  input: TokenInput,
  chosen?: string,
): Promise<{ readonly token: Token; readonly text: string }> {
  const { token, record, text } = makeToken(deps, userId, input, chosen)
  await deps.tokens.add(record)
  return { token, text }
}

/** Creates a token without storing it. `chosen` is a secret string set by the operator. */
export function makeToken(
  deps: Pick<TokenDeps, "newId" | "now">,
  userId: string,
  input: TokenInput,
  chosen?: string,
): { readonly token: Token; readonly record: NewTokenRecord; readonly text: string } {
  const made = makeOnce(() => ({
    id: deps.newId(),
    createdAt: deps.now(),
    text: chosen ?? makeTokenText(randomBytes(32)),
  }))
  const { id, createdAt, text } = made
  const token: Token = { id, ...input, createdAt, lastUsedAt: null }
  return { token, record: { ...token, userId, hash: hashToken(text) }, text }
}

/** Revokes a token of the caller. It stops working at once. */
export async function revokeToken(deps: TokenDeps, caller: Caller, id: string): Promise<void> {
  if (!(await deps.tokens.remove(caller.userId, id)))
    throw new AppError("token_not_found", `Cannot revoke token "${id}": you have none with that id`)
}

/** The hash that is stored of a token's secret string: SHA-256 in hexadecimal. */
export function hashToken(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex")
}

function isSame(left: string, right: string): boolean {
  let difference = left.length ^ right.length
  for (let index = 0; index < right.length; index++)
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index)
  return difference === 0
}
