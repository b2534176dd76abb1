import type { Candidates, Hit } from "../database/database.ts"
import { nothing, raw, type Statement, sql } from "../database/sql.ts"
import type { SearchIndex } from "./search-index.ts"

/** A query, folded, for each way to look for it. */
export interface Pattern {
  /** A LIKE pattern for names, which are short. */
  readonly name: string | undefined
  /** A substring of the body. */
  readonly body: string | undefined
  /** The query for the trigram index. */
  readonly indexed: string | undefined
  /** The beginning of the name. */
  readonly prefix: string | undefined
}

/**
 * The best ranked `rowsMax` vals of a part. A subquery reads each text: for a join, a planner may
 * reverse the order and read every text.
 */
export function hitsInOrder(
  index: SearchIndex,
  pattern: Pattern,
  part: Statement,
  rowsMax: number,
): Candidates {
  const select = sql`
    select v.id, v.like_count, v.created_at, (select ${isName(index, pattern)} from search_texts t where t.val_id = v.id) as is_name
    from (select id, like_count, created_at from vals where ${part} order by like_count desc, created_at desc, id desc limit ${rowsMax}) v`
  return { select, hitsMax: rowsMax }
}

/** The result of an index for a pattern, among the public vals. */
export interface Found {
  /** Selects `val_id`. */
  readonly ids: Statement
  /** A condition on the text `t`, where the index also returns vals that do not match. */
  readonly check: Statement | undefined
}

/** The public vals that the trigram index returns. */
export function findIndexed(
  index: SearchIndex,
  column: "name" | "body",
  folded: string,
  countMax: number,
): Found {
  return {
    ids: index.find(column, folded, countMax),
    check: index.isExact ? undefined : index.contains(column, folded),
  }
}

/** The best ranked of the public vals that an index returns. */
export function hitsByIds(
  { ids, check }: Found,
  pattern: Pattern,
  hitsMax: number,
  isNameHit: 0 | 1,
  after: Hit | undefined = undefined,
): Candidates {
  const other =
    isNameHit === 0 && pattern.name !== undefined
      ? sql`and t.name not like ${pattern.name}`
      : nothing
  const hit = isNameHit === 1 ? sql`1` : sql`0`
  const select = sql`
    select v.id, v.like_count, v.created_at, ${check ? sql`case when ${check} then ${hit} end` : hit} as is_name
    from (${ids}) hit join vals v on v.id = hit.val_id join search_texts t on t.val_id = v.id
    where v.privacy = 'public' ${other} ${after ? sql`and ${isRankedAfter(after, "v.")}` : nothing}`
  return { select, hitsMax }
}

/** Whether a val comes after a hit in the ranking by likes and age. */
export function isRankedAfter(hit: Hit, alias = ""): Statement {
  const columns = ["like_count", "created_at", "id"].map((column) => alias + column).join(", ")
  return sql`(${raw(columns)}) < (${hit.like_count}, ${Number(hit.created_at)}, ${hit.id})`
}

/** Public vals whose name begins with `prefix`, which consists of letters, digits and underscores. */
export function hitsByNamePrefix(prefix: string, countMax: number): Statement {
  const last = prefix.charCodeAt(prefix.length - 1)
  const end = prefix.slice(0, -1) + String.fromCharCode(last + 1)
  return sql`select id as val_id from vals where privacy = 'public' and name_key >= ${prefix} and name_key < ${end} limit ${countMax}`
}

/** 1 for a hit in the name, 0 for a hit in the body, null for no hit. */
function isName(index: SearchIndex, { name, body }: Pattern): Statement {
  const isInName = name === undefined ? nothing : sql`when t.name like ${name} then 1`
  const isInBody = body === undefined ? nothing : sql`when ${index.contains("body", body)} then 0`
  return sql`case ${isInName} ${isInBody} end`
}
