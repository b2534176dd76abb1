import type { AuditEntry, AuditStore } from "../../domain/accounts/audit.ts"
import { toOwnJson } from "../../shared/hostile-input/bounded.ts"
import type { Database } from "../database/database.ts"
import { afterCursor, limitTo, toPage, within } from "../database/pagination.ts"
import { asIs, asJson, asNumber, createReader } from "../database/reader.ts"
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
      const rows = await db.read<{ id: string; at: number | string }>(sql`
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
    values (${id}, ${at}, ${action}, ${actor.userId}, ${actor.username}, ${subject.id}, ${subject.name}, ${toOwnJson(details)})`
}

interface WhoRow {
  readonly actor_id: string | null
  readonly actor_name: string
  readonly subject_id: string | null
  readonly subject_name: string | null
}

const toEntry = createReader<AuditEntry>({
  id: asIs,
  at: asNumber,
  action: asIs,
  actor: (_, row: WhoRow) => ({ userId: row.actor_id, username: row.actor_name }),
  subject: (_, row: WhoRow) => ({ id: row.subject_id, name: row.subject_name }),
  details: asJson,
})
