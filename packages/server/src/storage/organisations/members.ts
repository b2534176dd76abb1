import { limits } from "@hamlet/contract"
import {
  type Database,
  type Dialect,
  firstRow,
  listOrder,
  raw,
  readPage,
  rows,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import type { Role } from "../../domain/access/roles.ts"
import type { AuditEntry } from "../../domain/accounts/audit.ts"
import {
  lastOwner,
  type Member,
  type MemberStore,
  type Membership,
} from "../../domain/organisations/members.ts"
import { insertAuditEntry } from "../accounts/audit.ts"
import { writeOnce } from "../accounts/write-once.ts"

const memberColumns =
  raw(`u.id, m.user_id as user__id, u.username as user__username, m.role, m.created_at,
  case when m.accepted_at is null then 1 else 0 end as is_pending`)

interface MemberRow extends Omit<Member, "pending"> {
  readonly id: string
  readonly isPending: boolean
}

interface MembershipRow extends Omit<Membership, "pending"> {
  readonly id: string
  readonly isPending: boolean
}

const byOrg = listOrder<MembershipRow>("m.org_id", ["id"], ({ id }) => [id])
const byUser = listOrder<MemberRow>("m.user_id", ["id"], ({ id }) => [id])

/** How many open invitations a person can have: anyone with an organisation may invite. */
const pendingMax = 100

/** Members in the database. */
export function createMemberStore(db: Database): MemberStore {
  return {
    async findRoles(userId) {
      const found = await db.read<{ orgId: string; role: Role }>`
        select m.org_id, m.role from memberships m join users o on o.id = m.org_id and o.suspended_at is null
        where m.user_id = ${userId} and m.accepted_at is not null limit ${limits.organisationsPerUserMax}`
      return new Map(found.map(({ orgId, role }) => [orgId, role]))
    },
    listMemberships: (userId, page) =>
      readPage<MembershipRow, Membership>(db, page, byOrg, toMembership)`
        select users.id, users.id as org__id, users.username as org__username, m.role, m.created_at,
          case when m.accepted_at is null then 1 else 0 end as is_pending
        from memberships m join users on users.id = m.org_id and users.suspended_at is null
        where m.user_id = ${userId}`,
    list: (id, page) =>
      readPage<MemberRow, Member>(db, page, byUser, toMember)`
        select ${memberColumns} from memberships m join users u on u.id = m.user_id where m.org_id = ${id}`,
    put: (id, userId, role, audit) =>
      writeOnce(db, () => putMember(db.dialect, id, userId, role, audit)),
    remove: (id, userId, audit) => db.write(() => removeMember(db.dialect, id, userId, audit)),
    accept: (id, userId, audit) => db.write(() => accept(db.dialect, id, userId, audit)),
    decline: (id, userId, audit) =>
      db.write(function* () {
        const org = yield* lockOrganisation(db.dialect, id)
        const declined = yield* firstRow`
          delete from memberships where org_id = ${id} and user_id = ${userId} and accepted_at is null returning org_id`
        if (!org || !declined) return false
        yield insertAuditEntry({ ...audit, subject: { id, name: org.username } })
        return true
      }),
  }
}

function toMember({ user, role, createdAt, isPending }: MemberRow): Member {
  return { user, role, createdAt, pending: isPending }
}

function toMembership({ org, role, createdAt, isPending }: MembershipRow): Membership {
  return { org, role, createdAt, pending: isPending }
}

/** Until the transaction ends, no other one changes the members of the organisation. */
export function* lockOrganisation(
  dialect: Dialect,
  id: string,
): Script<{ readonly username: string } | undefined> {
  yield* dialect.lockName(`members of ${id}`)
  return yield* firstRow<{ username: string }>`
    select username from users where id = ${id} and kind = 'org' and suspended_at is null`
}

export function insertMember(
  orgId: string,
  userId: string,
  role: Role,
  at: number,
  acceptedAt: number | null,
): Statement {
  return sql`insert into memberships (org_id, user_id, role, created_at, accepted_at) values (${orgId}, ${userId}, ${role}, ${at}, ${acceptedAt})`
}

/** Invitations that a person has not accepted do not count: others could fill them. */
export function* hasTooManyOrganisations(dialect: Dialect, userId: string): Script<boolean> {
  yield* dialect.lockName(`organisations of ${userId}`)
  const row = yield* firstRow<{ count: number }>`
    select count(*) as count from (select 1 from memberships where user_id = ${userId} and accepted_at is not null
      limit ${limits.organisationsPerUserMax}) counted`
  return (row?.count ?? 0) >= limits.organisationsPerUserMax
}

function* hasTooManyInvitations(dialect: Dialect, userId: string): Script<boolean> {
  yield* dialect.lockName(`organisations of ${userId}`)
  const row = yield* firstRow<{ count: number }>`
    select count(*) as count from (select 1 from memberships where user_id = ${userId} and accepted_at is null
      limit ${pendingMax}) counted`
  return (row?.count ?? 0) >= pendingMax
}

export function* hasTooManyMembers(orgId: string): Script<boolean> {
  const row = yield* firstRow<{ count: number }>`
    select count(*) as count from (select 1 from memberships where org_id = ${orgId}
      limit ${limits.membersPerOrganisationMax}) counted`
  return (row?.count ?? 0) >= limits.membersPerOrganisationMax
}

interface FoundMember {
  readonly role: Role
  readonly isPending: boolean
}

export function* findMember(orgId: string, userId: string): Script<FoundMember | undefined> {
  return yield* firstRow<FoundMember>`
    select role, case when accepted_at is null then 1 else 0 end as is_pending from memberships
    where org_id = ${orgId} and user_id = ${userId}`
}

/** Throws if an organisation would have no owner without the person. */
export function* assertNotLastOwner(dialect: Dialect, userId: string): Script<void> {
  const owned = yield* rows<{ id: string; username: string }>`
    select o.id, o.username from memberships m join users o on o.id = m.org_id
    where m.user_id = ${userId} and m.role = 'owner' and m.accepted_at is not null order by m.org_id limit ${limits.organisationsPerUserMax}`
  for (const { id } of owned) yield* dialect.lockName(`members of ${id}`)
  for (const { id, username } of owned)
    if (yield* isLastOwner(id, userId)) throw lastOwner(username)
}

/** Whether the organisation has no other owner. Suspended people count: they may come back. */
function* isLastOwner(orgId: string, userId: string): Script<boolean> {
  const other = yield* firstRow`
    select user_id from memberships where org_id = ${orgId} and role = 'owner' and accepted_at is not null and user_id <> ${userId} limit 1`
  return other === undefined
}

function* putMember(
  dialect: Dialect,
  orgId: string,
  userId: string,
  role: Role,
  audit: AuditEntry,
): Script<Member | "no_user" | "last_owner" | "too_many_members" | "too_many_invitations"> {
  const org = yield* lockOrganisation(dialect, orgId)
  const user =
    yield* firstRow`select id from users where id = ${userId} and kind = 'user' and suspended_at is null`
  const member = yield* findMember(orgId, userId)
  if (!org || !(user ?? member)) return "no_user"
  if (!member) {
    if (yield* hasTooManyMembers(orgId)) return "too_many_members"
    if (yield* hasTooManyInvitations(dialect, userId)) return "too_many_invitations"
    yield insertMember(orgId, userId, role, audit.at, null)
    yield insertAuditEntry({ ...audit, action: "member.invite" })
  } else if (member.role !== role) {
    const isOwner = member.role === "owner" && !member.isPending
    if (isOwner && (yield* isLastOwner(orgId, userId))) return "last_owner"
    yield sql`update memberships set role = ${role} where org_id = ${orgId} and user_id = ${userId}`
    yield insertAuditEntry(audit)
  }
  const row = yield* firstRow<MemberRow>`
    select ${memberColumns} from memberships m join users u on u.id = m.user_id where m.org_id = ${orgId} and m.user_id = ${userId}`
  return row ? toMember(row) : "no_user"
}

function* removeMember(
  dialect: Dialect,
  orgId: string,
  userId: string,
  audit: AuditEntry,
): Script<"removed" | "no_member" | "last_owner"> {
  yield* lockOrganisation(dialect, orgId)
  const member = yield* findMember(orgId, userId)
  if (!member) return "no_member"
  const isOwner = member.role === "owner" && !member.isPending
  if (isOwner && (yield* isLastOwner(orgId, userId))) return "last_owner"
  yield sql`delete from memberships where org_id = ${orgId} and user_id = ${userId}`
  yield sql`delete from tokens where user_id = ${userId} and owner_id = ${orgId}`
  yield insertAuditEntry(audit)
  return "removed"
}

function* accept(
  dialect: Dialect,
  orgId: string,
  userId: string,
  audit: AuditEntry,
): Script<"joined" | "not_invited" | "too_many_organisations"> {
  const org = yield* lockOrganisation(dialect, orgId)
  if (!org || !(yield* findMember(orgId, userId))?.isPending) return "not_invited"
  if (yield* hasTooManyOrganisations(dialect, userId)) return "too_many_organisations"
  yield sql`update memberships set accepted_at = ${audit.at} where org_id = ${orgId} and user_id = ${userId}`
  yield insertAuditEntry({ ...audit, subject: { id: orgId, name: org.username } })
  return "joined"
}
