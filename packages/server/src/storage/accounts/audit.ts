import type { AuditAction } from "@hamlet/contract"
import type { AuditEntry, AuditStore } from "../../domain/accounts/audit.ts"
import type { Database } from "../database/database.ts"
import { afterCursor, limitTo, toPage, within } from "../database/pagination.ts"
import { type Statement, sql } from "../database/sql.ts"

interface AuditRow {
  readonly id: string
  readonly at: number | string
  readonly action: AuditAction
  readonly actor_id: string | null
  readonly actor_name: string
  readonly subject_id: string | null
  readonly subject_name: string | null
  readonly details: string
}

/** The audit log in the database. */
export function createAuditStore(db: Database): AuditStore {
  return {
    add: (entry) =>
      db.write(function* () {
        yield insertAuditEntry(entry)
      }),
    async list({ action, ...period }, page) {
      const isWanted = action === undefined ? sql`true` : sql`action = ${action}`
      const rows = await db.read<AuditRow>(sql`
        select id, at, action, actor_id, actor_name, subject_id, subject_name, details from audit_entries
        where ${isWanted} ${within("at", period)} ${afterCursor(page, "at, id", ["time", "id"])}
        order by at desc, id desc ${limitTo(page)}`)
      return toPage(rows, page, toEntry, (row) => [Number(row.at), row.id])
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
    values (${id}, ${at}, ${action}, ${actor.userId}, ${actor.username}, ${subject.id}, ${subject.name}, ${JSON.stringify(details)})`
}

function toEntry(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    at: Number(row.at),
    action: row.action,
    actor: { userId: row.actor_id, username: row.actor_name },
    subject: { id: row.subject_id, name: row.subject_name },
    details: JSON.parse(row.details),
  }
}
