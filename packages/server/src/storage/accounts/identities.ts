import type { Scope } from "@hamlet/contract"
import {
  type Database,
  type Dialect,
  firstRow,
  newestFirst,
  raw,
  readPage,
  rows,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import type { AuditEntry } from "../../domain/accounts/audit.ts"
import type { NewSessionRecord, Replacement } from "../../domain/accounts/sessions.ts"
import type { User } from "../../domain/accounts/users.ts"
import type {
  IdentitySignIn,
  IdentityStore,
  LinkedIdentity,
  NewIdentity,
  ResponseUse,
} from "../../domain/identities/identities.ts"
import type { IdentityKey } from "../../domain/identities/identity-provider.ts"
import { insertAuditEntry } from "./audit.ts"
import { takeInvitation } from "./invitations.ts"
import { addSession } from "./sessions.ts"
import { insertUser } from "./users.ts"

interface OwnerRow {
  readonly id: string
  readonly userId: string
  readonly username: string
  readonly scopes: readonly Scope[]
  readonly suspendedAt: number | null
}

type ToSession = Parameters<IdentityStore["signIn"]>[2]

const columns = raw("id, issuer, subject, email, created_at, last_used_at")

/** Ends a transaction without a trace: the name and the identity are taken together or not at all. */
class IdentityTaken extends Error {}

/** Identities in the database. */
export function createIdentityStore(db: Database, now: () => number): IdentityStore {
  const { dialect } = db
  return {
    signIn: (key, use, toSession, replacement) =>
      db.write(() => signIn(dialect, key, use, now(), toSession, replacement)),
    signInByEmail: (identity, email, audit, toSession, replacement) =>
      db.write(() => signInByEmail(dialect, identity, email, audit, toSession, replacement)),
    async signUp(user, identity, invitationHash, session, replacement, audit) {
      try {
        return await db.write(() =>
          signUp(dialect, { user, identity, invitationHash, session, replacement, audit }),
        )
      } catch (error) {
        if (error instanceof IdentityTaken) return "identity_taken"
        throw error
      }
    },
    link: (identity, use, countMax, audit) =>
      db.write(() => link(dialect, identity, use, countMax, audit)),
    list: (userId, page) =>
      readPage<LinkedIdentity>(db, page, newestFirst)`
        select ${columns} from identities where user_id = ${userId}`,
    remove: (userId, id, audit) =>
      db.write(function* () {
        const removed = yield* firstRow<{ issuer: string }>`
          delete from identities where user_id = ${userId} and id = ${id} returning issuer`
        if (!removed) return false
        yield insertAuditEntry({ ...audit, details: { issuer: removed.issuer } })
        return true
      }),
  }
}

function* signIn(
  dialect: Dialect,
  { issuer, subject }: IdentityKey,
  use: ResponseUse,
  at: number,
  toSession: ToSession,
  replacement: Replacement,
): Script<IdentitySignIn> {
  if (!(yield* noteUse(use, at))) return { kind: "used" }
  const owner = yield* firstRow<OwnerRow>`
    select i.id, i.user_id, u.username, i.scopes as scopes_words, u.suspended_at
    from identities i join users u on u.id = i.user_id
    where i.issuer = ${issuer} and i.subject = ${subject} ${dialect.forUpdate}`
  if (!owner) return { kind: "unknown" }
  if (owner.suspendedAt !== null) return { kind: "suspended", username: owner.username }
  yield sql`update identities set last_used_at = ${at} where id = ${owner.id}`
  const session = toSession({ userId: owner.userId, scopes: owner.scopes })
  yield* addSession(dialect, session, replacement)
  return { kind: "signed-in", session }
}

/** Returns false when the response was used before. Forgets those that have expired. */
function* noteUse({ hash, expiresAt }: ResponseUse, at: number): Script<boolean> {
  yield sql`delete from used_sign_ins where expires_at <= ${at}`
  const noted = yield* firstRow`
    insert into used_sign_ins (hash, expires_at) values (${Buffer.from(hash, "hex")}, ${expiresAt})
    on conflict (hash) do nothing returning expires_at`
  return noted !== undefined
}

function* signInByEmail(
  dialect: Dialect,
  identity: Omit<NewIdentity, "userId">,
  email: string,
  audit: AuditEntry,
  toSession: ToSession,
  replacement: Replacement,
): Script<IdentitySignIn> {
  const [user, another] = yield* rows<{ id: string; username: string }>`
    select id, username from users
    where lower(email) = ${email.toLowerCase()} and email_verified_at is not null and suspended_at is null
    limit 2 ${dialect.forUpdate}`
  if (!user || another) return { kind: "unknown" }
  const owned = { ...identity, userId: user.id }
  // Another sign-in of the same person may have linked it a moment ago.
  if (!(yield* firstRow(insertIdentity(owned)))) return { kind: "unknown" }
  const who = { actorId: user.id, actorName: user.username }
  yield insertAuditEntry({ ...audit, actor: who, subject: { id: user.id, name: user.username } })
  const session = toSession(owned)
  yield* addSession(dialect, session, replacement)
  return { kind: "signed-in", session }
}

interface SignUp {
  readonly user: User
  readonly identity: NewIdentity
  readonly invitationHash: string | undefined
  readonly session: NewSessionRecord
  readonly replacement: Replacement
  readonly audit: AuditEntry
}

function* signUp(
  dialect: Dialect,
  { user, identity, invitationHash, session, replacement, audit }: SignUp,
): Script<"added" | "username_taken" | "invitation_invalid"> {
  const invitation =
    invitationHash === undefined
      ? undefined
      : yield* takeInvitation(dialect, invitationHash, audit.at)
  if (invitationHash !== undefined && !invitation) return "invitation_invalid"
  if (!(yield* insertUser(user))) return "username_taken"
  if (!(yield* firstRow(insertIdentity(identity)))) throw new IdentityTaken()
  if (invitation) yield* invitation.use(user, audit)
  yield insertAuditEntry(
    invitation ? { ...audit, details: { ...audit.details, invitation: invitation.id } } : audit,
  )
  yield* addSession(dialect, session, replacement)
  return "added"
}

function* link(
  dialect: Dialect,
  identity: NewIdentity,
  use: ResponseUse,
  countMax: number,
  audit: AuditEntry,
): Script<LinkedIdentity | "used" | "taken" | "too_many"> {
  if (!(yield* noteUse(use, audit.at))) return "used"
  // Locks the row of the user, so that concurrent links are counted one after the other.
  yield sql`select id from users where id = ${identity.userId} ${dialect.forUpdate}`
  const existing = yield* firstRow<LinkedIdentity & { readonly userId: string }>`
    select ${columns}, user_id from identities where issuer = ${identity.issuer} and subject = ${identity.subject}`
  if (existing) return existing.userId === identity.userId ? existing : "taken"
  const count = yield* firstRow<{ count: number }>`
    select count(*) as count from identities where user_id = ${identity.userId}`
  if ((count?.count ?? 0) >= countMax) return "too_many"
  if (!(yield* firstRow(insertIdentity(identity)))) return "taken"
  yield insertAuditEntry(audit)
  const { id, issuer, subject, email, createdAt } = identity
  return { id, issuer, subject, email, createdAt, lastUsedAt: null }
}

function insertIdentity(identity: NewIdentity): Statement {
  const { id, userId, issuer, subject, email, scopes, createdAt } = identity
  return sql`insert into identities (id, user_id, issuer, subject, email, scopes, created_at)
    values (${id}, ${userId}, ${issuer}, ${subject}, ${email}, ${scopes.join(" ")}, ${createdAt})
    on conflict (issuer, subject) do nothing returning id`
}
