import {
  type Database,
  type Dialect,
  firstRow,
  idOrder,
  readPage,
  type Script,
  type Statements,
  sql,
} from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type { AuditEntry } from "../../domain/accounts/audit.ts"
import type {
  Acceptance,
  Invitation,
  InvitationStore,
  NewInvitation,
} from "../../domain/accounts/invitations.ts"
import type { NewTokenRecord } from "../../domain/accounts/tokens.ts"
import type { User } from "../../domain/accounts/users.ts"
import { noQuotas } from "../../domain/limits/quotas.ts"
import { markChange } from "./accounts.ts"
import { insertAuditEntry } from "./audit.ts"
import { addUser } from "./users.ts"
import { writeOnce } from "./write-once.ts"

/** Invitations in the database. */
export function createInvitationStore(db: Database): InvitationStore {
  return {
    list: (at, page) =>
      readPage(db, page, idOrder("invitations."), toInvitation)`
        select invitations.id, note, invitations.email, invitations.quotas as quotas_json, u.username as created_by, invitations.created_at, expires_at
        from invitations join users u on u.id = creator_id
        where org_id is null and expires_at > ${at}`,
    add: (invitation, countMax, audit) =>
      writeOnce(db, () => addInvitation(db.dialect, invitation, countMax, audit)),
    remove: (id, audit) =>
      db.write(function* () {
        const removed = yield* firstRow<{ note: string | null }>`
          delete from invitations where id = ${id} and org_id is null and expires_at > ${audit.at} returning note`
        if (!removed) return false
        yield insertAuditEntry({ ...audit, subject: { id, name: removed.note } })
        return true
      }),
    accept: (hash, user, token, audit) =>
      db.write(() => acceptInvitation(db.dialect, hash, user, token, audit)),
  }
}

/** Deletes expired invitations first, which no longer count. */
function* addInvitation(
  dialect: Dialect,
  invitation: NewInvitation,
  countMax: number,
  audit: AuditEntry,
): Script<boolean> {
  const { id, hash, creatorId, note, email, quotas, createdAt, expiresAt } = invitation
  yield* dialect.lockName("invitations")
  yield sql`delete from invitations where expires_at <= ${createdAt}`
  const count = yield* firstRow<{
    count: number
  }>`select count(*) as count from invitations where org_id is null`
  if ((count?.count ?? 0) >= countMax) return false
  yield sql`insert into invitations (id, hash, creator_id, note, email, quotas, created_at, expires_at)
    values (${id}, ${Buffer.from(hash, "hex")}, ${creatorId}, ${note}, ${email}, ${quotas && toOwnJson(quotas)}, ${createdAt}, ${expiresAt})`
  yield insertAuditEntry(audit)
  return true
}

interface OpenRow {
  readonly id: string
  readonly note: string | null
  readonly email: string | null
  readonly quotas: string | null
  readonly creatorId: string
}

/** Accepts an invitation: the second of two concurrent acceptances finds no invitation any more. */
function* acceptInvitation(
  dialect: Dialect,
  hash: string,
  user: User,
  token: NewTokenRecord,
  audit: AuditEntry,
): Script<Acceptance> {
  const invitation = yield* takeInvitation(dialect, hash, audit.at)
  if (!invitation) return "invalid"
  if (!(yield* addUser(user, token))) return "username_taken"
  const accepted = yield* invitation.use(user, audit)
  yield insertAuditEntry({ ...audit, subject: { id: invitation.id, name: invitation.note } })
  return accepted
}

/** Locks an invitation that can be accepted. Undefined when there is none. */
export function* takeInvitation(
  dialect: Dialect,
  hash: string,
  at: number,
): Script<TakenInvitation | undefined> {
  const open = yield* firstRow<OpenRow>`
    select id, note, email, quotas, creator_id from invitations
    where hash = ${Buffer.from(hash, "hex")} and org_id is null and expires_at > ${at} ${dialect.forUpdate}`
  if (!open) return undefined
  const creator = yield* firstRow`
    select id from users where id = ${open.creatorId} and suspended_at is null`
  if (!creator) return undefined
  const { id, note } = open
  return { id, note, use: (user, audit) => useInvitation(open, user, audit) }
}

function* useInvitation(
  { id, email, quotas }: OpenRow,
  user: User,
  audit: AuditEntry,
): Statements<User> {
  yield sql`delete from invitations where id = ${id}`
  if (quotas !== null) {
    yield sql`update users set quotas = ${quotas} where id = ${user.id}`
    yield markChange(audit)
  }
  if (email === null) return user
  yield sql`update users set email = ${email}, email_verified_at = ${audit.at} where id = ${user.id}`
  return { ...user, email, isEmailVerified: true }
}

interface TakenInvitation {
  readonly id: string
  readonly note: string | null
  /** Deletes it and gives the user what it promises. Returns the user with these changes. */
  use(user: User, audit: AuditEntry): Statements<User>
}

/** Its quotas may lack some that there were not when it was created. */
function toInvitation({ quotas, ...row }: Invitation): Invitation {
  return { ...row, quotas: quotas && { ...noQuotas, ...quotas } }
}
