import { limits } from "@hamlet/contract"
import {
  type Database,
  type Dialect,
  firstRow,
  listOrder,
  raw,
  readPage,
  type Statement,
  sql,
} from "@hamlet/database"
import type { AuditEntry } from "../../domain/accounts/audit.ts"
import type { User } from "../../domain/accounts/users.ts"
import type { Organisation, OrganisationStore } from "../../domain/organisations/organisations.ts"
import { insertAuditEntry } from "../accounts/audit.ts"
import { insertUser, userColumns } from "../accounts/users.ts"
import { writeOnce } from "../accounts/write-once.ts"
import { hasTooManyOrganisations, insertMember } from "./members.ts"

/** Organisations in the database. */
export function createOrganisationStore(db: Database): OrganisationStore {
  const select = sql`select ${userColumns} from users`
  return {
    add: (org, ownerId, audit) =>
      writeOnce(db, () => addOrganisation(db.dialect, org, ownerId, audit)),
    find: (idOrName) =>
      db.first<User>`
        ${select} where ${isId(idOrName) ? sql`id = ${idOrName.toLowerCase()}` : sql`username_key = ${idOrName.toLowerCase()}`}
        and kind = 'org' and suspended_at is null`,
    async countMembers(id) {
      const row = await db.first<{ count: number }>`select ${countMembers(sql`${id}`)} as count`
      return row?.count ?? 0
    },
    change: (id, bio) =>
      db.write(function* () {
        return yield* firstRow<User>`
          update users set bio = ${bio} where id = ${id} and kind = 'org' and suspended_at is null returning ${userColumns}`
      }),
    listOf: (userId, page) =>
      readPage<Organisation>(db, page, byOrg)`
        select ${userColumns}, m.role, ${countMembers(raw("users.id"))} as members
        from (select org_id, role from memberships where user_id = ${userId} and accepted_at is not null) m
        join users on users.id = m.org_id and users.suspended_at is null where true`,
  }
}

const byOrg = listOrder<Organisation>("m.org_id", ["id"], ({ id }) => [id])

function countMembers(id: Statement): Statement {
  return sql`(select count(*) from (select 1 from memberships o where o.org_id = ${id} and o.accepted_at is not null
    limit ${limits.membersPerOrganisationMax}) counted)`
}

function isId(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}

function* addOrganisation(dialect: Dialect, org: User, ownerId: string, audit: AuditEntry) {
  if (yield* hasTooManyOrganisations(dialect, ownerId)) return "too_many_organisations" as const
  if (!(yield* insertUser(org))) return "username_taken" as const
  yield insertMember(org.id, ownerId, "owner", audit.at, audit.at)
  yield insertAuditEntry(audit)
  return "added" as const
}
