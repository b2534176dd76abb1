import { type Candidates, join, list, nothing, raw, type Statement, sql } from "@hamlet/database"
import { contains, type SearchIndex } from "./search-index.ts"

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

/** A val that matches a search, with the columns that rank it. */
export interface Hit {
  readonly id: string
  readonly likeCount: number
  readonly createdAt: number
  readonly isName: boolean
  /** In which of its texts the query is, where that was asked. */
  readonly place?: string
}

/** Name hits first, then the most liked, then the newest. */
export function byRank(left: Hit, right: Hit): number {
  return (
    Number(right.isName) - Number(left.isName) ||
    right.likeCount - left.likeCount ||
    right.createdAt - left.createdAt ||
    (left.id < right.id ? 1 : -1)
  )
}

/** Candidates with the columns of a Hit; `is_name` is null for a val that does not match. */
function toCandidates(select: Statement, hitsMax: number): Candidates {
  return {
    select,
    hitColumn: "is_name",
    rankColumns: ["like_count", "created_at", "id"],
    hitsMax,
  }
}

/**
 * The best ranked `rowsMax` vals of a part. A subquery reads each text: for a join, a planner may
 * reverse the order and read every text. The first text, which has no path, has the name.
 */
export function hitsInOrder(
  index: SearchIndex,
  pattern: Pattern,
  part: Statement,
  rowsMax: number,
): Candidates {
  const select = sql`
    select v.id, v.like_count, v.created_at, (select ${isName(pattern)} from search_texts t where t.val_id = v.id and ${isHit(index, pattern)} order by t.path limit 1) as is_name
    from (select id, like_count, created_at from vals where ${part} order by like_count desc, created_at desc, id desc limit ${rowsMax}) v`
  return toCandidates(select, rowsMax)
}

/** The result of an index for a pattern, among the public vals. */
export interface Found {
  /** Selects `key` and `val_id` of texts. */
  readonly ids: Statement
  /** A condition on the text `t`, where the index also returns texts that do not match. */
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
    check: index.isExact ? undefined : contains(index, column, folded),
  }
}

/** The best ranked of the public vals that an index returns; a val once for each of its texts. */
export function hitsByIds(
  { ids, check }: Found,
  pattern: Pattern,
  hitsMax: number,
  isNameHit: 0 | 1,
  after: Hit | undefined = undefined,
): Candidates {
  const other =
    isNameHit === 0 && pattern.name !== undefined
      ? sql`and ${nameOfVal} not like ${pattern.name}`
      : nothing
  const hit = isNameHit === 1 ? sql`1` : sql`0`
  const select = sql`
    select v.id, v.like_count, v.created_at, ${check ? sql`case when ${check} then ${hit} end` : hit} as is_name
    from (${ids}) hit join vals v on v.id = hit.val_id join search_texts t on t.key = hit.key
    where v.privacy = 'public' ${other} ${after ? sql`and ${isRankedAfter(after, "v.")}` : nothing}`
  return toCandidates(select, hitsMax)
}

/** A hit in the code of a val. */
export const placeOfCode = "0"
/** A hit in its readme, its description or the path of its code. */
export const placeOfRest = "2"

/** Where the best text of each val contains the query: `1` and the path for another file. */
export function placesIn(index: SearchIndex, ids: readonly string[], body: string): Candidates {
  const at = index.position("body", body)
  const place = sql`case when t.path <> '' then '1' || t.path
    when ${at} < ${index.position("body", "\n")} then ${raw(`'${placeOfCode}'`)} else ${raw(`'${placeOfRest}'`)} end`
  const select = sql`
    select v.id, 0 as like_count, 0 as created_at, 0 as is_name, (select ${place} as place from search_texts t where t.val_id = v.id and ${at} > 0 order by 1 limit 1) as place
    from vals v where v.id in (${list(ids)})`
  return toCandidates(select, ids.length)
}

/** The folded name of the val of the text `t`: the texts of its other files do not have it. */
const nameOfVal = raw(
  "case when t.path = '' then t.name else (select n.name from search_texts n where n.val_id = t.val_id and n.path = '') end",
)

/** Whether a val comes after a hit in the ranking by likes and age. */
export function isRankedAfter(hit: Hit, alias = ""): Statement {
  const columns = ["like_count", "created_at", "id"].map((column) => alias + column).join(", ")
  return sql`(${raw(columns)}) < (${hit.likeCount}, ${hit.createdAt}, ${hit.id})`
}

/** Public vals whose name begins with `prefix`, which consists of letters, digits and underscores. */
export function hitsByNamePrefix(prefix: string, countMax: number): Statement {
  const last = prefix.charCodeAt(prefix.length - 1)
  const end = prefix.slice(0, -1) + String.fromCharCode(last + 1)
  return sql`select t.key, v.id as val_id from (select id from vals where privacy = 'public' and name_key >= ${prefix} and name_key < ${end} limit ${countMax}) v
    join search_texts t on t.val_id = v.id and t.path = ''`
}

/** 1 for a hit in the name, 0 for a hit in the body. */
function isName({ name, body }: Pattern): Statement {
  if (name === undefined) return sql`0`
  return body === undefined ? sql`1` : sql`case when t.name like ${name} then 1 else 0 end`
}

function isHit(index: SearchIndex, { name, body }: Pattern): Statement {
  const isInName = name === undefined ? [] : [sql`t.name like ${name}`]
  const isInBody = body === undefined ? [] : [contains(index, "body", body)]
  return sql`(${join([...isInName, ...isInBody], " or ")})`
}
