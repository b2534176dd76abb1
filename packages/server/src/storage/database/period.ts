import type { Period } from "../../domain/paging.ts"
import { nothing, raw, type Statement, sql } from "./sql.ts"

/**
 * Further conditions that bound a column to a span of time: `since` is exclusive, `until`
 * inclusive.
 */
export function within(column: string, period: Period): Statement {
  const since = period.since === undefined ? nothing : sql`and ${raw(column)} > ${period.since}`
  const until = period.until === undefined ? nothing : sql`and ${raw(column)} <= ${period.until}`
  return sql`${since} ${until}`
}
