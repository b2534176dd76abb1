import {
  type Database,
  type Dialect,
  firstRow,
  idOrder,
  readPage,
  type Script,
  sql,
} from "@hamlet/database"
import type { Role } from "../../domain/access/roles.ts"
import type { AuditEntry } from "../../domain/accounts/audit.ts"
import type {
  NewOrgInvitation,
  OrgInvitation,
  OrgInvitationStore,
} from "../../domain/organisations/org-invitations.ts"
import { insertAuditEntry } from "../accounts/audit.ts"
import { writeOnce } from "../accounts/write-once.ts"
import {
  findMember,
  hasTooManyMembers,
  hasTooManyOrganisations,
  insertMember,
  lockOrganisation,
} from "./members.ts"

/** Invitations into organisations in the database. */
export function createOrgInvitationStore(db: Database): OrgInvitationStore {
  return {
    list: (id, at, page) =>
      readPage<OrgInvitation>(db, page, idOrder("i."))`
        select i.id, i.role, i.email, u.username as created_by, i.created_at, i.expires_at
        from invitations i join users u on u.id = i.creator_id where i.org_id = ${id} and i.expires_at > ${at}`,
    add: (invitation, countMax, audit) =>
      writeOnce(db, () => addInvitation(db.dialect, invitation, countMax, audit)),
    remove: (id, invitationId, audit) =>
      db.write(function* () {
        const removed = yield* firstRow`
          delete from invitations where id = ${invitationId} and org_id = ${id} and expires_at > ${audit.at} returning id`
        if (removed) yield insertAuditEntry(audit)
        return removed !== undefined
      }),
    join: (hash, userId, audit) => writeOnce(db, () => join(db.dialect, hash, userId, audit)),
  }
}

function* addInvitation(
  dialect: Dialect,
  invitation: NewOrgInvitation,
  countMax: number,
  audit: AuditEntry,
): Script<boolean> {
  const { id, orgId, creatorId, role, email, hash, createdAt, expiresAt } = invitation
  if (!(yield* lockOrganisation(dialect, orgId))) return false
  yield sql`delete from invitations where org_id = ${orgId} and expires_at <= ${createdAt}`
  const row = yield* firstRow<{ count: number }>`
    select count(*) as count from (select 1 from invitations where org_id = ${orgId} limit ${countMax}) counted`
  if ((row?.count ?? 0) >= countMax) return false
  yield sql`insert into invitations (id, hash, creator_id, note, email, created_at, expires_at, org_id, role)
    values (${id}, ${Buffer.from(hash, "hex")}, ${creatorId}, null, ${email}, ${createdAt}, ${expiresAt}, ${orgId}, ${role})`
  yield insertAuditEntry(audit)
  return true
}

interface OpenInvitation {
  readonly id: string
  readonly orgId: string
  readonly role: Role
  readonly email: string | null
}

/** The second of two concurrent attempts finds no invitation any more. */
function* join(
  dialect: Dialect,
  hash: string,
  userId: string,
  audit: AuditEntry,
): Script<
  { orgId: string; role: Role } | "invalid" | "too_many_members" | "too_many_organisations"
> {
  const found = yield* firstRow<OpenInvitation>`
    select id, org_id, role, email from invitations
    where hash = ${Buffer.from(hash, "hex")} and org_id is not null and expires_at > ${audit.at} ${dialect.forUpdate}`
  const org = found && (yield* lockOrganisation(dialect, found.orgId))
  if (!found || !org || !(yield* mayAccept(found, userId))) return "invalid"
  const { orgId, role } = found
  const member = yield* findMember(orgId, userId)
  if (!member && (yield* hasTooManyMembers(orgId))) return "too_many_members"
  if (!(member && !member.isPending) && (yield* hasTooManyOrganisations(dialect, userId)))
    return "too_many_organisations"
  yield sql`delete from invitations where id = ${found.id}`
  if (!member) yield insertMember(orgId, userId, role, audit.at, audit.at)
  else if (member.isPending)
    yield sql`update memberships set role = ${role}, accepted_at = ${audit.at} where org_id = ${orgId} and user_id = ${userId}`
  yield insertAuditEntry({ ...audit, subject: { id: orgId, name: org.username } })
  return { orgId, role: member && !member.isPending ? member.role : role }
}

/** An invitation that names an address is for the person who has confirmed it. */
function* mayAccept({ email }: OpenInvitation, userId: string): Script<boolean> {
  const user = yield* firstRow<{ email: string | null }>`
    select case when email_verified_at is null then null else lower(email) end as email from users where id = ${userId} and kind = 'user'`
  return user !== undefined && (email === null || user.email === email.toLowerCase())
}
