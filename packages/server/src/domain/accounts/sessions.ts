import { randomBytes } from "node:crypto"
import type { Scope, session } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import { makeOnce, truncateText } from "@hamlet/kit"
import type { Caller, SessionRoot } from "../access/caller.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"
import { hashToken, hasTokenShape, makeTokenText } from "./token-text.ts"
import type { Tokens } from "./tokens.ts"

/** A signed-in browser. Technically a token that is stored in a cookie. */
export type Session = Omit<Stored<typeof session>, "current">

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

/** A session, and the only copy of its secret string. */
export interface StartedSession {
  readonly session: Session
  readonly text: string
}

/** The rules of sessions. */
export type Sessions = ReturnType<typeof createSessions>

/** Creates the rules of sessions. An unused session lasts `sessionMs`. */
export function createSessions(
  store: SessionStore,
  tokens: Tokens,
  sessionMs: number,
  { newId, now }: Clock,
) {
  const toExpiry = (from: number, root: SessionRoot | undefined) =>
    Math.min(from + sessionMs, root?.expiresAt ?? Number.POSITIVE_INFINITY)
  /** A session to be stored; `text` is its secret string. */
  const make = (text: string, userAgent: string | null, of: SessionOwner): NewSessionRecord => {
    const createdAt = now()
    return {
      id: newId(),
      userId: of.userId,
      hash: hashToken(text),
      scopes: [...of.scopes],
      parentId: of.root.tokenId,
      userAgent: userAgent === null ? null : truncateText(userAgent, limits.userAgentBytesMax),
      createdAt,
      expiresAt: toExpiry(createdAt, of.root),
      lastUsedAt: null,
    }
  }
  return {
    make,
    /** Signs a browser in. The secret string is always new, which prevents session fixation. */
    async signIn({ token, code = "", userAgent, replaced }: SignIn): Promise<StartedSession> {
      const text = makeTokenText(randomBytes(32), "session")
      const replacement = toReplacement(replaced)
      if (token !== undefined) {
        const { actorId: userId, scopes, root } = await tokens.authenticate(token)
        const session = root && make(text, userAgent, { userId, scopes, root })
        if (session && (await store.add(session, replacement))) return { session, text }
        throw new AppError(
          "invalid_token",
          "Cannot sign in with the token: it is revoked or belongs to a run",
        )
      }
      const toSession = (link: LinkRecord) =>
        link.expiresAt <= now() ? undefined : make(text, userAgent, link)
      const session = hasTokenShape(code, "link")
        ? await store.redeem(hashToken(code), toSession, replacement)
        : undefined
      if (!session) throw invalidLink()
      return { session, text }
    },
    list: (caller: Caller, page: PageRequest) => store.list(caller.actorId, now(), page),
    /** Extends a session in use. Returns its new expiry, or undefined if it stays unchanged. */
    async renew(session: Caller): Promise<number | undefined> {
      const expiresAt = toExpiry(now(), session.root)
      if (expiresAt - (session.expiresAt ?? expiresAt) < sessionMs * limits.renewalPart)
        return undefined
      await store.extend(session.tokenId, expiresAt)
      return expiresAt
    },
    /** Ends one session of the caller. */
    async end(caller: Caller, id: string): Promise<void> {
      if (!(await store.remove(caller.actorId, id))) throw sessionNotFound(id)
    },
    /** Ends the caller's session; no effect when the caller uses a token. */
    endOwn: (caller: Caller) => store.remove(caller.actorId, caller.tokenId),
    endAll: (caller: Caller) => store.removeAll(caller.actorId),
  }
}

/** The rules of links that sign a browser in. */
export type SignInLinks = ReturnType<typeof createSignInLinks>

/** Creates the rules of sign-in links. */
export function createSignInLinks(store: SessionStore, { newId, now }: Clock) {
  return {
    /** Returns the user of a link without using it up, so that a page can ask before it signs in. */
    async getOwner(code: string): Promise<LinkOwner> {
      const owner = hasTokenShape(code, "link")
        ? await store.findLinkOwner(hashToken(code))
        : undefined
      if (!owner || owner.expiresAt <= now()) throw invalidLink()
      return owner
    },
    /** Creates a link that signs a browser in once, with the caller's scopes. Returns its code. */
    async create(
      { actorId: userId, scopes, root }: Pick<Caller, "actorId" | "scopes" | "root">,
      ms: number = limits.linkMs,
    ): Promise<{ readonly code: string; readonly expiresAt: number }> {
      const { id, code, createdAt } = makeOnce(() => ({
        id: newId(),
        code: makeTokenText(randomBytes(32), "link"),
        createdAt: now(),
      }))
      const expiresAt = createdAt + ms
      const hash = hashToken(code)
      const link = root && { id, userId, hash, scopes: [...scopes], createdAt, expiresAt, root }
      if (link && (await store.addLink(link, limits.linksMax))) return { code, expiresAt }
      throw new AppError(
        "invalid_token",
        "Cannot create a sign-in link: the token is revoked or belongs to a run",
      )
    },
  }
}

/** The user of a session, and what the session is derived from. */
interface SessionOwner {
  readonly userId: string
  readonly scopes: Iterable<Scope>
  readonly root: SessionRoot
}

/** What a new session replaces in a browser that had this session cookie before. */
export function toReplacement(replaced: string | undefined): Replacement {
  return {
    hash: replaced === undefined ? undefined : hashToken(replaced),
    countMax: limits.sessionsMax,
  }
}

function invalidLink(): AppError {
  return new AppError(
    "invalid_sign_in_code",
    "Cannot sign in: the link was already used, has expired, or never existed",
  )
}

function sessionNotFound(id: string): AppError {
  return new AppError(
    "session_not_found",
    `Cannot sign out session "${id}": you have none with that id`,
  )
}
