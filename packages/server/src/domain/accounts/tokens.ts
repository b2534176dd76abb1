import { randomBytes } from "node:crypto"
import { type Scope, scope } from "@hamlet/contract"
import { makeOnce } from "../../shared/once.ts"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Page, PageRequest } from "../paging.ts"
import { hasTokenShape, makeTokenText, type TokenKind } from "./token-text.ts"

/** A token as its owner sees it. The secret string itself is not kept, only its SHA-256. */
export interface Token {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
}

/** A token that is about to be kept. */
export interface NewTokenRecord extends Token {
  readonly userId: string
  readonly hash: string
}

/** What a lookup by hash finds. */
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
  /** It belongs to a process that runs a val, and ends with it. */
  readonly isOfRun: boolean
  /** The token that a session came from, and when that one ends. */
  readonly parentId: string | null
  readonly parentExpiresAt: number | null
}

/**
 * Where tokens are kept. Lists and `remove` know nothing of those of runs, and nothing of sessions;
 * these end with the token they came from.
 */
export interface TokenStore {
  findHolder(hash: string): Promise<TokenHolder | undefined>
  list(userId: string, page: PageRequest): Promise<Page<Token>>
  add(token: NewTokenRecord): Promise<void>
  /**
   * Makes a token the one of the setting, in the place of the one before, which ends. A token of
   * the user's that is there already becomes it.
   */
  replaceSettingToken(token: NewTokenRecord): Promise<void>
  /** False when the user has no such token. */
  remove(userId: string, id: string): Promise<boolean>
  /** Notes when tokens were last used. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>
  /** Keeps tokens of runs on a node, and forgets others, in one go. */
  changeRunTokens(
    nodeId: string,
    added: readonly NewTokenRecord[],
    removedIds: readonly string[],
  ): Promise<void>
  /** Forgets the tokens of all runs on a node. */
  removeRunTokensOf(nodeId: string): Promise<void>
  /** Forgets the tokens of runs on nodes that are no more. */
  removeLostRunTokens(): Promise<void>
}

/**
 * The tokens of the runs on this node, which are good from the moment they are issued until the
 * moment they end.
 */
export interface LiveTokens {
  /** Undefined when it is not one of this node's. */
  find(hash: string): TokenHolder | "ended" | undefined
}

/** What the rules of tokens need. */
export interface TokenDeps {
  readonly tokens: TokenStore
  newId(): string
  now(): number
}

/** Every scope there is: what the first user's token has. */
export const allScopes: readonly Scope[] = scope.options

/**
 * Finds out who is behind a token, or refuses it without saying which of the possible reasons it
 * was.
 */
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

/** Finds out who is behind the cookie of a browser; undefined when the session has ended. */
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
  // The lookup goes through an index, whose timing tells nothing useful of a 256-bit hash; the
  // comparison that decides is constant in time.
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

/** What it takes to know a token. */
export interface AuthenticationDeps extends Pick<TokenDeps, "tokens" | "now"> {
  readonly runTokens: LiveTokens
}

/** A caller, and what is known of their token. */
export type Authenticated = Caller & Pick<TokenHolder, "expiresAt" | "lastUsedAt" | "isOfRun">

async function findHolder(
  deps: AuthenticationDeps,
  hash: string,
): Promise<TokenHolder | undefined> {
  const live = deps.runTokens.find(hash)
  if (live === "ended") return undefined
  return live ?? deps.tokens.findHolder(hash)
}

/** A token for the caller, with at most the scopes of the token that asks for it. */
export async function createToken(
  deps: TokenDeps,
  caller: Caller,
  input: {
    readonly name: string
    readonly scopes: readonly Scope[]
    readonly expiresAt: number | null
  },
): Promise<{ readonly token: Token; readonly text: string }> {
  const missing = input.scopes.find((wanted) => !caller.scopes.has(wanted))
  if (missing) {
    throw new AppError(
      "scope_escalation",
      `Cannot create a token with scope ${missing}: it is not among the required permissions of the token that asks for it`,
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

/**
 * Makes and keeps a token for a user; `text` is the only copy of the secret string, or the one the
 * operator chose.
 */
export async function issueToken(
  deps: TokenDeps,
  userId: string,
  input: {
    readonly name: string
    readonly scopes: readonly Scope[]
    readonly expiresAt: number | null
  },
  chosen?: string,
): Promise<{ readonly token: Token; readonly text: string }> {
  const { token, record, text } = makeToken(deps, userId, input, chosen)
  await deps.tokens.add(record)
  return { token, text }
}

/** Makes a token without keeping it yet. */
export function makeToken(
  deps: Pick<TokenDeps, "newId" | "now">,
  userId: string,
  input: {
    readonly name: string
    readonly scopes: readonly Scope[]
    readonly expiresAt: number | null
  },
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

/** Revokes a token of the caller's; it stops working at once. */
export async function revokeToken(deps: TokenDeps, caller: Caller, id: string): Promise<void> {
  if (!(await deps.tokens.remove(caller.userId, id)))
    throw new AppError("token_not_found", `Cannot revoke token "${id}": you have none with that id`)
}

/** What is kept of a token's secret string: its SHA-256 in hexadecimal. */
export function hashToken(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex")
}

function isSame(left: string, right: string): boolean {
  let difference = left.length ^ right.length
  for (let index = 0; index < right.length; index++)
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index)
  return difference === 0
}
