import { nothing, type Statement, sql } from "./sql.ts"

/** What is looked for, as patterns of LIKE over folded texts. */
export interface Pattern {
  readonly name: string | undefined
  readonly body: string | undefined
  /** What the trigram index is asked for. */
  readonly indexed: string | undefined
  /** What the name begins with. */
  readonly prefix: string | undefined
}

/** A val that matches, with what it is ranked by. */
export interface Hit {
  readonly id: string
  readonly like_count: number
  readonly created_at: number | string
  readonly is_name: number
}

/** Name hits first, then the most liked, then the newest. */
export function byRank(left: Hit, right: Hit): number {
  return (
    right.is_name - left.is_name ||
    right.like_count - left.like_count ||
    Number(right.created_at) - Number(left.created_at) ||
    (left.id < right.id ? 1 : -1)
  )
}

/**
 * The hits among the best ranked `rowsMax` vals of a part, in their order. The texts are asked for one by one: a planner may turn a join
 * around, and then look into every text there is.
 */
export function hitsInOrder(pattern: Pattern, part: Statement, rowsMax: number): Statement {
  return sql`
    select id, like_count, created_at, is_name
    from (select v.id, v.like_count, v.created_at, (select ${isName(pattern)} from search_texts t where t.val_id = v.id) as is_name
      from (select id, like_count, created_at from vals where ${part} order by like_count desc, created_at desc, id desc limit ${rowsMax}) v) found
    where is_name is not null
    order by like_count desc, created_at desc, id desc`
}

/** The best ranked of the public vals that an index found. */
export function hitsByIds(ids: Statement, pattern: Pattern, wanted: number, isNameHit: 0 | 1): Statement {
  const other = isNameHit === 0 && pattern.name !== undefined ? sql`and t.name not like ${pattern.name}` : nothing
  return sql`
    select v.id, v.like_count, v.created_at, ${isNameHit === 1 ? sql`1` : sql`0`} as is_name
    from (${ids}) hit join vals v on v.id = hit.val_id join search_texts t on t.val_id = v.id
    where v.privacy = 'public' ${other}
    order by v.like_count desc, v.created_at desc, v.id desc limit ${wanted}`
}

/** Public vals whose name begins with `prefix`, which is letters, digits and underscores. */
export function hitsByNamePrefix(prefix: string, countMax: number): Statement {
  const last = prefix.charCodeAt(prefix.length - 1)
  const end = prefix.slice(0, -1) + String.fromCharCode(last + 1)
  return sql`select id as val_id from vals where privacy = 'public' and name_key >= ${prefix} and name_key < ${end} limit ${countMax}`
}

/** Null for what is no hit at all. */
function isName({ name, body }: Pattern): Statement {
  const isInName = name === undefined ? nothing : sql`when t.name like ${name} then 1`
  const isInBody = body === undefined ? nothing : sql`when t.body like ${body} then 0`
  return sql`case ${isInName} ${isInBody} end`
}
