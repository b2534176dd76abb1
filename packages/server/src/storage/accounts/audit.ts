import { type Database, listOrder, readPage, type Statement, sql, within } from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type { AuditEntry, AuditStore } from "../../domain/accounts/audit.ts"

/** The audit log in the database. */
export function createAuditStore(db: Database): AuditStore {
  return {
    add: (entry) => db.run(insertAuditEntry(entry)),
    list({ action, ...period }, page) {
      const isWanted = action === undefined ? sql`true` : sql`action = ${action}`
      return readPage(db, page, byTime)`
        select id, at, action, actor_id as actor___actor_id, actor_name as actor__actor_name, subject_id as subject___id,
          subject_name as subject___name, details as details_json from audit_entries
        where ${isWanted} ${within("at", period)}`
    },
  }
}

const byTime = listOrder<AuditEntry>("at, id", ["time", "id"], (it) => [it.at, it.id])

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
    values (${id}, ${at}, ${action}, ${actor.actorId}, ${actor.actorName}, ${subject.id}, ${subject.name}, ${toOwnJson(details)})`
}
