import type { AuditEntry, AuditStore } from "../../domain/accounts/audit.ts"
import { parseOwnJson, toOwnJson } from "../../shared/hostile-input/bounded.ts"
import type { Database } from "../database/database.ts"
import { afterCursor, limitTo, toPage, within } from "../database/pagination.ts"
import { type Statement, sql } from "../database/sql.ts"

/** The audit log in the database. */
export function createAuditStore(db: Database): AuditStore {
  return {
    add: (entry) =>
      db.write(function* () {
        yield insertAuditEntry(entry)
      }),
    async list({ action, ...period }, page) {
      const isWanted = action === undefined ? sql`true` : sql`action = ${action}`
      const rows = await db.read<EntryRow>(sql`
        select id, at, action, actor_id, actor_name, subject_id, subject_name, details from audit_entries
        where ${isWanted} ${within("at", period)} ${afterCursor(page, "at, id", ["time", "id"])}
        order by at desc, id desc ${limitTo(page)}`)
      return toPage(rows, page, toEntry, (row) => [row.at, row.id])
    },
  }
}

/** Writes an entry, in the transaction of the action. */
export function insertAuditEntry({
  id,
  at,
  action,
  actor,
  subject,
  details,
}: AuditEntry): Statement {
  return sql`insert into audit_entries (id, at, action, actor_id, actor_name, subject_id, subject_name, details)
    values (${id}, ${at}, ${action}, ${actor.userId}, ${actor.username}, ${subject.id}, ${subject.name}, ${toOwnJson(details)})`
}

type EntryRow = Pick<AuditEntry, "id" | "at" | "action"> & {
  readonly actorId: string | null
  readonly actorName: string
  readonly subjectId: string | null
  readonly subjectName: string | null
  readonly details: string
}

function toEntry({ id, at, action, details, ...row }: EntryRow): AuditEntry {
  const actor = { userId: row.actorId, username: row.actorName }
  const subject = { id: row.subjectId, name: row.subjectName }
  return { id, at, action, actor, subject, details: parseOwnJson(details) }
}
