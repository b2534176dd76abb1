import type { AuditEntry } from "../../domain/accounts/audit.ts"
import { type Statement, sql } from "../database/sql.ts"

/** The setting that changes when nodes must read the states of accounts again. */
export const markName = "accounts_mark"

/** Lets all nodes read the states of accounts again; the id of the entry is unique. */
export function markChange(audit: AuditEntry): Statement {
  return sql`insert into settings (name, value) values (${markName}, ${audit.id}) on conflict (name) do update set value = excluded.value`
}
