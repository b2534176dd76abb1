import { randomBytes } from "node:crypto"
import type { Scope } from "@hamlet/contract"
import type { Caller, SessionRoot } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Page, PageRequest } from "../paging.ts"
import { truncateText } from "../runs/truncate.ts"
import { hasTokenShape, makeTokenText } from "./token-text.ts"
import { type Authenticated, type AuthenticationDeps, authenticate, hashToken } from "./tokens.ts"

/** A signed-in browser. Technically a token that is stored in a cookie. */
export interface Session {
  readonly id: string
  readonly userAgent: string | null
  readonly createdAt: number
  readonly expiresAt: number
  readonly lastUsedAt: number | null
}

/** A session to be stored. */
export interface NewSessionRecord extends Session {
  readonly userId: string
  readonly hash: string
  readonly scopes: readonly Scope[]
  readonly parentId: string | null
}

/** A sign-in link as it is stored. */
export interface LinkRecord {
  readonly id: string
  readonly userId: string
  readonly hash: string
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly expiresAt: number
  readonly root: SessionRoot
}

/** The user that a sign-in link signs in. */
export interface LinkOwner {
  readonly username: string
  readonly expiresAt: number
}

/** Which older sessions a new session replaces. */
export interface Replacement {
  /** The hash of the session that the browser had before. */
  readonly hash: string | undefined
  readonly countMax: number
}

/** Stores sessions and sign-in links. */
export interface SessionStore {
  /** Returns false when the token that it is derived from has been revoked. */
  add(session: NewSessionRecord, replacement: Replacement): Promise<boolean>
  /**
   * Deletes the link and stores the session that `toSession` returns, in one transaction. Undefined
   * when there is no such link or no session.
   */
  redeem(
    linkHash: string,
    toSession: (link: LinkRecord) => NewSessionRecord | undefined,
    replacement: Replacement,
  ): Promise<NewSessionRecord | undefined>
  /** Undefined when the link does not exist or has been used. */
  findLinkOwner(linkHash: string): Promise<LinkOwner | undefined>
  /** The sessions that have not expired at that time, latest sign-in first. */
  list(userId: string, at: number, page: PageRequest): Promise<Page<Session>>
  /** Returns false when the user has no such session. */
  remove(userId: string, id: string): Promise<boolean>
  /** Removes all sessions and links of a user. */
  removeAll(userId: string): Promise<void>
  extend(id: string, expiresAt: number): Promise<void>
  /**
   * Stores a link; beyond `countMax`, the oldest unused links are deleted. Returns false when the
   * token that it is derived from has been revoked.
   */
  addLink(link: LinkRecord, countMax: number): Promise<boolean>
}

/** What the rules of sessions need. */
export interface SessionDeps extends AuthenticationDeps {
  readonly sessions: SessionStore
  /** How long an unused session lasts. */
  readonly sessionMs: number
  newId(): string
}

const limits = {
  userAgentBytesMax: 300,
  /** Per user. Beyond it, the least recently used session ends. */
  sessionsMax: 100,
  linksMax: 20,
  linkMs: 15 * 60_000,
  /** A session is extended after this part of its time, so that not every request writes. */
  renewalPart: 1 / 30,
}

/** A sign-in: with a token, or with the code of a link. */
export interface SignIn {
  readonly token?: string | undefined
  readonly code?: string | undefined
  readonly userAgent: string | null
  /** The session cookie that the browser had before. */
  readonly replaced: string | undefined
}

/** Signs a browser in. The secret string is always new, which prevents session fixation. */
export async function signIn(
  deps: SessionDeps,
  input: SignIn,
): Promise<{ readonly session: Session; readonly text: string }> {
  const text = makeTokenText(randomBytes(32), "session")
  const toSession = (of: SessionOwner) => makeSession(deps, text, input.userAgent, of)
  const replacement = toReplacement(input.replaced)
  if (input.token !== undefined) {
    const { root, ...caller } = await authenticate(deps, input.token)
    const session = root && toSession({ ...caller, root })
    if (!session || !(await deps.sessions.add(session, replacement)))
      throw new AppError(
        "invalid_token",
        "Cannot sign in with the token: it is revoked or belongs to a run",
      )
    return { session, text }
  }
  const session = await redeem(deps, input.code ?? "", toSession, replacement)
  if (!session) throw invalidLink()
  return { session, text }
}

/** The user of a session, and what the session is derived from. */
interface SessionOwner {
  readonly userId: string
  readonly scopes: Iterable<Scope>
  readonly root: SessionRoot
}

/** A session to be stored; `text` is its secret string. */
export function makeSession(
  deps: Pick<SessionDeps, "newId" | "now" | "sessionMs">,
  text: string,
  userAgent: string | null,
  of: SessionOwner,
): NewSessionRecord {
  const createdAt = deps.now()
  return {
    id: deps.newId(),
    userId: of.userId,
    hash: hashToken(text),
    scopes: [...of.scopes],
    parentId: of.root.tokenId,
    userAgent: userAgent === null ? null : truncateText(userAgent, limits.userAgentBytesMax),
    createdAt,
    expiresAt: toExpiry(deps, createdAt, of.root),
    lastUsedAt: null,
  }
}

/** What a new session replaces in a browser that had this session cookie before. */
export function toReplacement(replaced: string | undefined): Replacement {
  return {
    hash: replaced === undefined ? undefined : hashToken(replaced),
    countMax: limits.sessionsMax,
  }
}

/** Returns the user of a link without using it up, so that a page can ask before it signs in. */
export async function getLinkOwner(deps: SessionDeps, code: string): Promise<LinkOwner> {
  const owner = hasTokenShape(code, "link")
    ? await deps.sessions.findLinkOwner(hashToken(code))
    : undefined
  if (!owner || owner.expiresAt <= deps.now()) throw invalidLink()
  return owner
}

function invalidLink(): AppError {
  return new AppError(
    "invalid_sign_in_code",
    "Cannot sign in: the link was already used, has expired, or never existed",
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

/** Creates a link that signs a browser in once, with the caller's scopes. Returns its code. */
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
      "Cannot create a sign-in link: the token is revoked or belongs to a run",
    )
  return { code, expiresAt }
}

/** Extends a session in use. Returns its new expiry, or undefined if it stays unchanged. */
export async function renewSession(
  deps: SessionDeps,
  session: Pick<Authenticated, "tokenId" | "expiresAt" | "root">,
) {
  const expiresAt = toExpiry(deps, deps.now(), session.root)
  if (expiresAt - (session.expiresAt ?? expiresAt) < deps.sessionMs * limits.renewalPart)
    return undefined
  await deps.sessions.extend(session.tokenId, expiresAt)
  return expiresAt
}

/** Ends one session of the caller. */
export async function endSession(deps: SessionDeps, caller: Caller, id: string): Promise<void> {
  if (!(await deps.sessions.remove(caller.userId, id)))
    throw new AppError(
      "session_not_found",
      `Cannot sign out session "${id}": you have none with that id`,
    )
}

function toExpiry(
  deps: Pick<SessionDeps, "sessionMs">,
  from: number,
  root: SessionRoot | undefined,
): number {
  return Math.min(from + deps.sessionMs, root?.expiresAt ?? Number.POSITIVE_INFINITY)
}
