import {
  beyond,
  type Database,
  type Dialect,
  firstRow,
  newestFirst,
  readPage,
  type Script,
  sql,
} from "@hamlet/database"
import type {
  LinkRecord,
  NewSessionRecord,
  Replacement,
  Session,
  SessionStore,
} from "../../domain/accounts/sessions.ts"
import type { TokenKind } from "../../domain/accounts/token-text.ts"
import { writeOnce } from "./write-once.ts"

/** Sessions and sign-in links in the table of tokens. */
export function createSessionStore(db: Database): SessionStore {
  const { dialect } = db
  return {
    add: (session, replacement) => db.write(() => addSession(dialect, session, replacement)),
    redeem: (linkHash, toSession, replacement) =>
      db.write(() => redeemLink(dialect, linkHash, toSession, replacement)),
    findLinkOwner: (linkHash) =>
      db.first<{ username: string; expiresAt: number }>`
        select u.username, t.expires_at from tokens t join users u on u.id = t.user_id
        where t.hash = ${Buffer.from(linkHash, "hex")} and t.kind = 'link'`,
    list: (userId, at, page) =>
      readPage<Session>(db, page, newestFirst)`
        select id, user_agent, created_at, expires_at, last_used_at from tokens
        where user_id = ${userId} and kind = 'session' and expires_at > ${at}`,
    remove: (userId, id) =>
      db.change`
        delete from tokens where user_id = ${userId} and id = ${id} and kind = 'session' returning id`,
    removeAll: (userId) =>
      db.run`
        delete from tokens where user_id = ${userId} and kind in ('session', 'link')`,
    extend: (id, expiresAt) =>
      db.run`
        update tokens set expires_at = ${expiresAt} where id = ${id} and kind = 'session'`,
    addLink: (link, countMax) => writeOnce(db, () => addLink(dialect, link, countMax)),
  }
}

/** Stores a session. Returns false when the token that it is derived from has been revoked. */
export function* addSession(
  dialect: Dialect,
  session: NewSessionRecord,
  replacement: Replacement,
): Script<boolean> {
  if (session.parentId !== null && !(yield* lockParent(dialect, session.parentId))) return false
  yield* insert("session", { ...session, name: "session" })
  if (replacement.hash !== undefined)
    yield sql`delete from tokens where hash = ${Buffer.from(replacement.hash, "hex")} and kind = 'session'`
  yield* makeRoom("session", session, replacement.countMax)
  return true
}

/** Redeems a link: the second of two uses, even concurrent ones, finds no link any more. */
function* redeemLink(
  dialect: Dialect,
  linkHash: string,
  toNew: (link: LinkRecord) => NewSessionRecord | undefined,
  replacement: Replacement,
): Script<NewSessionRecord | undefined> {
  const hash = Buffer.from(linkHash, "hex")
  const link = yield* firstRow<{ parentId: string | null }>`
    select parent_id from tokens where hash = ${hash} and kind = 'link'`
  if (!link) return undefined
  const tokenId = link.parentId
  // In the order in which a revocation locks them: the token first, then its sessions and links.
  const parent = tokenId === null ? undefined : yield* lockParent(dialect, tokenId)
  const row = yield* firstRow<Omit<LinkRecord, "root">>`
    delete from tokens where hash = ${hash} and kind = 'link' returning id, user_id, hash as hash_hex, scopes as scopes_words, created_at, expires_at`
  if (!row) return undefined
  const root = { tokenId, expiresAt: parent?.expiresAt ?? null }
  const session = toNew({ ...row, root })
  return session && (yield* addSession(dialect, session, replacement)) ? session : undefined
}

function* addLink(dialect: Dialect, link: LinkRecord, countMax: number): Script<boolean> {
  const { tokenId: parentId } = link.root
  if (parentId !== null && !(yield* lockParent(dialect, parentId))) return false
  yield* insert("link", { ...link, parentId, userAgent: null, name: "sign-in link" })
  yield* makeRoom("link", link, countMax)
  return true
}

/** Locks the token, so that a revocation waits until its new session or link exists. */
function lockParent(dialect: Dialect, id: string) {
  return firstRow<{ expiresAt: number | null }>`
    select expires_at from tokens where id = ${id} ${dialect.forUpdate}`
}

function* insert(
  kind: TokenKind,
  record: Omit<NewSessionRecord, "lastUsedAt"> & { readonly name: string },
): Script<void> {
  yield sql`insert into tokens (id, user_id, hash, name, scopes, created_at, expires_at, kind, parent_id, user_agent)
    values (${record.id}, ${record.userId}, ${Buffer.from(record.hash, "hex")}, ${record.name}, ${record.scopes.join(" ")}, ${record.createdAt},
      ${record.expiresAt}, ${kind}, ${record.parentId}, ${record.userAgent})`
}

/**
 * Deletes expired rows of the same user and kind, and the least recently used if there are too
 * many.
 */
function* makeRoom(
  kind: TokenKind,
  { userId, createdAt }: { userId: string; createdAt: number },
  countMax: number,
): Script<void> {
  yield sql`delete from tokens where user_id = ${userId} and kind = ${kind} and expires_at <= ${createdAt}`
  yield sql`delete from tokens where id in (
    select id from tokens where user_id = ${userId} and kind = ${kind}
    order by coalesce(last_used_at, created_at) desc, id desc ${beyond(countMax)})`
}
