import type { CursorKeys } from "@hamlet/contract"
import { afterCursor, type Database, limitTo, raw, type Statement, sql } from "@hamlet/database"
import type { Page } from "@hamlet/database/page"
import type { Val, ValPageRequest, ValRanking } from "../../domain/vals/vals.ts"
import { readVals } from "./read-vals.ts"
import { toListedColumns, withCurrentVersion } from "./val-rows.ts"

const columns: Readonly<Record<ValRanking, string>> = {
  likes: "like_count",
  runs: "run_count",
  trend: "trend",
}

/** A val with its sort key. */
interface RankedRow extends Val {
  readonly sortKey: number
}

const limits = {
  /** How many of the newest vals of an owner are sorted: no index has their order. */
  sortedMax: 10_000,
}

/** Public vals with the highest rank first, and the newest first among equals. */
export function listRanked(
  db: Database,
  ranking: ValRanking,
  ownerId: string | undefined,
  page: ValPageRequest,
): Promise<Page<Val>> {
  const column = raw(columns[ranking])
  const after = afterCursor(page, `${columns[ranking]}, created_at, id`, ["time", "time", "id"])
  return readVals<RankedRow>(
    db,
    page,
    sql`
      select ${toListedColumns(page)}, v.${column} as sort_key
      from (select id from ${ownerId === undefined ? all : newestOf(ownerId)} ${after}
        order by ${column} desc, created_at desc, id desc ${limitTo(page)}) found
      join vals v on v.id = found.id ${withCurrentVersion}
      order by v.${column} desc, v.created_at desc, v.id desc`,
    toKeys,
  )
}

const all = sql`vals where privacy = 'public'`

function newestOf(ownerId: string): Statement {
  return sql`(select id, created_at, like_count, run_count, trend from vals where privacy = 'public' and owner_id = ${ownerId}
    order by created_at desc, id desc limit ${limits.sortedMax}) newest where 1 = 1`
}

function toKeys({ id, sortKey, createdAt }: RankedRow): CursorKeys {
  return [sortKey, createdAt, id]
}
