import { randomBytes } from "node:crypto"
import type { Scope } from "@hamlet/contract"
import type { Caller, SessionRoot } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Page, PageRequest } from "../paging.ts"
import { truncateText } from "../runs/truncate.ts"
import { hasTokenShape, makeTokenText } from "./token-text.ts"
import { type Authenticated, type AuthenticationDeps, authenticate, hashToken } from "./tokens.ts"

/** A browser that is signed in. It is a token that lives in a cookie. */
export interface Session {
  readonly id: string
  readonly userAgent: string | null
  readonly createdAt: number
  readonly expiresAt: number
  readonly lastUsedAt: number | null
}

/** A session that is about to be kept. */
export interface NewSessionRecord extends Session {
  readonly userId: string
  readonly hash: string
  readonly scopes: readonly Scope[]
  readonly parentId: string | null
}

/** A sign-in link that is about to be kept, or is used at this moment. */
export interface LinkRecord {
  readonly id: string
  readonly userId: string
  readonly hash: string
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly expiresAt: number
  readonly root: SessionRoot
}

/** The user whose account a sign-in link opens. */
export interface LinkOwner {
  readonly username: string
  readonly expiresAt: number
}

/** What is left of older sessions when there is a new one. */
export interface Replacement {
  /** Of the session that the browser had before. */
  readonly hash: string | undefined
  readonly countMax: number
}

/** Where sessions and sign-in links are kept. */
export interface SessionStore {
  /** False when the token that it comes from has been revoked. */
  add(session: NewSessionRecord, replacement: Replacement): Promise<boolean>
  /**
   * Uses a link up and keeps the session that `toSession` makes of it, in one go; undefined when
   * there is no such link, or no session.
   */
  redeem(
    linkHash: string,
    toSession: (link: LinkRecord) => NewSessionRecord | undefined,
    replacement: Replacement,
  ): Promise<NewSessionRecord | undefined>
  /** Whose link it is, as long as nobody has used it. */
  findLinkOwner(linkHash: string): Promise<LinkOwner | undefined>
  /** Those that have not ended at that moment, latest sign-in first. */
  list(userId: string, at: number, page: PageRequest): Promise<Page<Session>>
  /** False when the user has no such session. */
  remove(userId: string, id: string): Promise<boolean>
  /** All sessions and links of a user. */
  removeAll(userId: string): Promise<void>
  extend(id: string, expiresAt: number): Promise<void>
  /**
   * Keeps a link; of those that nobody has used yet, the oldest go. False when the token that it
   * comes from has been revoked.
   */
  addLink(link: LinkRecord, countMax: number): Promise<boolean>
}

/** What the rules of sessions need. */
export interface SessionDeps extends AuthenticationDeps {
  readonly sessions: SessionStore
  /** How long a session lasts that nobody uses. */
  readonly sessionMs: number
  newId(): string
}

const limits = {
  userAgentBytesMax: 300,
  /** Of one user; the one that was not used for longest makes room for another. */
  sessionsMax: 100,
  linksMax: 20,
  linkMs: 15 * 60_000,
  /**
   * A session is prolonged when that part of its time is over: a write for every request would be
   * too many.
   */
  renewalPart: 1 / 30,
}

/** How a browser wants to sign in, and what is known of it. */
export interface SignIn {
  readonly token?: string | undefined
  readonly code?: string | undefined
  readonly userAgent: string | null
  /** The cookie that it had until now. */
  readonly replaced: string | undefined
}

/**
 * Signs a browser in. The secret string is always a new one, so that nobody can have planted it
 * beforehand.
 */
export async function signIn(
  deps: SessionDeps,
  input: SignIn,
): Promise<{ readonly session: Session; readonly text: string }> {
  const text = makeTokenText(randomBytes(32), "session")
  const toSession = (of: {
    readonly userId: string
    readonly scopes: Iterable<Scope>
    readonly root: SessionRoot
  }): NewSessionRecord => ({
    id: deps.newId(),
    userId: of.userId,
    hash: hashToken(text),
    scopes: [...of.scopes],
    parentId: of.root.tokenId,
    userAgent:
      input.userAgent === null ? null : truncateText(input.userAgent, limits.userAgentBytesMax),
    createdAt: deps.now(),
    expiresAt: toExpiry(deps, of.root),
    lastUsedAt: null,
  })
  const replacement = {
    hash: input.replaced === undefined ? undefined : hashToken(input.replaced),
    countMax: limits.sessionsMax,
  }
  if (input.token !== undefined) {
    const { root, ...caller } = await authenticate(deps, input.token)
    const session = root && toSession({ ...caller, root })
    if (!session || !(await deps.sessions.add(session, replacement)))
      throw new AppError(
        "invalid_token",
        "Cannot sign in with the token: it is revoked, or belongs to a run",
      )
    return { session, text }
  }
  const session = await redeem(deps, input.code ?? "", toSession, replacement)
  if (!session) throw uselessLink()
  return { session, text }
}

/**
 * Whose account the code of a link opens. It does not use the link up, so that a page can ask
 * before it signs in.
 */
export async function getLinkOwner(deps: SessionDeps, code: string): Promise<LinkOwner> {
  const owner = hasTokenShape(code, "link")
    ? await deps.sessions.findLinkOwner(hashToken(code))
    : undefined
  if (!owner || owner.expiresAt <= deps.now()) throw uselessLink()
  return owner
}

function uselessLink(): AppError {
  return new AppError(
    "invalid_sign_in_code",
    "Cannot sign in: the link was used before, has expired, or was never made",
  )
}

async function redeem(
  deps: SessionDeps,
  code: string,
  toSession: (link: LinkRecord) => NewSessionRecord,
  replacement: Replacement,
) {
  if (!hasTokenShape(code, "link")) return undefined
  const isOver = ({ expiresAt }: LinkRecord) => expiresAt <= deps.now()
  return deps.sessions.redeem(
    hashToken(code),
    (link) => (isOver(link) ? undefined : toSession(link)),
    replacement,
  )
}

/** The code of a link that signs a browser in once, with what the caller may do. */
export async function createSignInLink(
  deps: SessionDeps,
  caller: Pick<Caller, "userId" | "scopes" | "root">,
  ms: number = limits.linkMs,
): Promise<{ readonly code: string; readonly expiresAt: number }> {
  const { userId, scopes, root } = caller
  const code = makeTokenText(randomBytes(32), "link")
  const createdAt = deps.now()
  const expiresAt = createdAt + ms
  const link = root && {
    id: deps.newId(),
    userId,
    hash: hashToken(code),
    scopes: [...scopes],
    createdAt,
    expiresAt,
    root,
  }
  if (!link || !(await deps.sessions.addLink(link, limits.linksMax)))
    throw new AppError(
      "invalid_token",
      "Cannot make a sign-in link: the token is revoked, or belongs to a run",
    )
  return { code, expiresAt }
}

/**
 * Prolongs a session that is in use. Gives the moment at which it ends now, or undefined where it
 * stays as it is.
 */
export async function renewSession(
  deps: SessionDeps,
  session: Pick<Authenticated, "tokenId" | "expiresAt" | "root">,
) {
  const expiresAt = toExpiry(deps, session.root)
  if (expiresAt - (session.expiresAt ?? expiresAt) < deps.sessionMs * limits.renewalPart)
    return undefined
  await deps.sessions.extend(session.tokenId, expiresAt)
  return expiresAt
}

/** Signs one browser of the caller's out. */
export async function endSession(deps: SessionDeps, caller: Caller, id: string): Promise<void> {
  if (!(await deps.sessions.remove(caller.userId, id)))
    throw new AppError(
      "session_not_found",
      `Cannot sign out session "${id}": you have none with that id`,
    )
}

function toExpiry(deps: SessionDeps, root: SessionRoot | undefined): number {
  return Math.min(deps.now() + deps.sessionMs, root?.expiresAt ?? Number.POSITIVE_INFINITY)
}
