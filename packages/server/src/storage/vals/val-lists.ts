import type { PageRequest } from "../../domain/paging.ts"
import type { ValFilter } from "../../domain/vals/vals.ts"
import { afterCursor, newestFirst } from "../database/cursor.ts"
import { limitPart, limitTo } from "../database/pagination.ts"
import { join, type Statement, sql } from "../database/sql.ts"
import { listedColumns, withCurrentVersion } from "./val-rows.ts"

/**
 * Public vals and the viewer's own, newest first. "Public or own" as one condition would scan: each
 * part that a filter leaves is read from an index in order and cut, and the parts are merged.
 */
export function listVals(
  viewerId: string | undefined,
  filter: ValFilter,
  page: PageRequest,
): Statement {
  const parts = partsOf(viewerId, filter)
  if (parts.length === 0) return sql`select 1 where 1 = 0`
  const after = afterCursor(page, "created_at, id", newestFirst.kinds)
  const limited = parts.map(
    (part) => sql`select * from (select id, created_at from vals where ${part} ${after}
      order by created_at desc, id desc ${limitPart(page)}) part`,
  )
  return sql`
    select ${listedColumns}
    from (select id, created_at from (${join(limited, " union all ")}) parts order by created_at desc, id desc ${limitTo(page)}) found
    join vals v on v.id = found.id ${withCurrentVersion}
    order by v.created_at desc, v.id desc`
}

/** The condition of each part; no val is in two of them. */
function partsOf(viewerId: string | undefined, filter: ValFilter): readonly Statement[] {
  const { ownerId, privacy } = filter
  const isOwn = viewerId !== undefined && (ownerId === undefined || ownerId === viewerId)
  const parts: Statement[] = []
  if (privacy === undefined || privacy === "public") {
    parts.push(
      ownerId === undefined
        ? sql`privacy = 'public'`
        : sql`privacy = 'public' and owner_id = ${ownerId}`,
    )
  }
  if (isOwn && privacy === undefined)
    parts.push(sql`privacy <> 'public' and owner_id = ${viewerId}`)
  if (isOwn && privacy !== undefined && privacy !== "public")
    parts.push(sql`privacy <> 'public' and privacy = ${privacy} and owner_id = ${viewerId}`)
  return parts
}
