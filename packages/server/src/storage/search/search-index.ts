import { join, raw, type Statement, type Statements, sql } from "../database/sql.ts"
import { foldText } from "./fold-text.ts"
import { rareTrigrams } from "./rare-trigrams.ts"
import { findChangedPart } from "./trigram-diff.ts"

/** What search looks through of a val, folded. */
export interface SearchText {
  readonly valId: string
  readonly isPublic: boolean
  readonly name: string
  readonly body: string
}

/** A trigram index over the texts of public vals. */
export interface SearchIndex {
  /** Puts all texts into the index after they were written without it. */
  readonly fill: readonly string[]
  /** Replaces the text of a val, if there still is one. */
  replace(text: SearchText): Statements<void>
  /**
   * Selects the `val_id` of public vals whose text contains the folded query of at least three
   * characters, or may do so where it is not exact. Of very many, not all are found.
   */
  find(column: "name" | "body", folded: string, countMax: number): Statement
  /** Whether `find` names only what contains the query. */
  readonly isExact: boolean
  /**
   * Whether a column of the text `t` contains the folded query: by a function that takes much less
   * time than LIKE does in the worst case.
   */
  contains(column: "name" | "body", folded: string): Statement
}

const limits = {
  /** Trigrams of a query that an index is asked for; the text itself is compared afterwards. */
  trigramsMax: 3,
  /** From here on a trigram is likely to be in few texts. */
  rarityMin: 45,
}

/**
 * On SQLite two FTS5 tables over search_texts, which keep no copy of the text and no positions:
 * with them the index would be three times as large, and a phrase of frequent trigrams would take
 * seconds. Triggers keep them in step, but for a new body, which is most of what happens: to index
 * what has changed of it takes a tenth of the time, and a statement with triggers makes FTS5 write
 * out what it has gathered for the transaction.
 */
export const sqliteSearchIndex: SearchIndex = {
  // What FTS5 calls a rebuild would take in the vals that are not public.
  fill: ["name", "body"].map(
    (column) =>
      `insert into search_${column} (rowid, ${column}) select key, ${column} from search_texts where is_public = 1 order by key`,
  ),
  *replace({ valId, isPublic, name, body }) {
    const found =
      yield sql`select key, is_public, name, body from search_texts where val_id = ${valId}`
    const [before] = found as readonly TextRow[]
    if (!before) return
    const { key } = before
    if ((before.is_public === 1) !== isPublic || before.name !== name) {
      yield sql`update search_texts set is_public = ${isPublic ? 1 : 0}, name = ${name}, body = ${body} where key = ${key}`
    } else if (before.body !== body) {
      yield sql`update search_texts set body = ${body} where key = ${key}`
      // As SQLite has stored it: half a character is none in UTF-8.
      if (isPublic) yield* reindexBody(key, before.body, body.toWellFormed())
    }
  },
  find(column, folded, countMax) {
    const index = raw(`search_${column}`)
    const all = rareTrigrams(folded, limits.trigramsMax, foldText).map(({ text }) => `"${text}"`)
    return sql`
      select t.val_id from (select rowid as key from ${index} where ${index} match ${all.join(" AND ")} order by rowid desc limit ${countMax}) hit
      join search_texts t on t.key = hit.key`
  },
  isExact: false,
  contains: (column, folded) => sql`instr(t.${raw(column)}, ${folded}) > 0`,
}

interface TextRow {
  readonly key: number
  readonly is_public: number
  readonly name: string
  readonly body: string
}

function* reindexBody(key: number, before: string, after: string): Statements<void> {
  const changed = findChangedPart(before, after)
  yield sql`insert into search_body (search_body, rowid, body) values ('delete', ${key}, ${changed.before})`
  yield sql`insert into search_body (rowid, body) values (${key}, ${changed.after})`
}

/**
 * On PostgreSQL two GIN indexes. pg_trgm is a trusted extension: whoever owns the database may
 * create it.
 */
export const postgresSearchIndex: SearchIndex = {
  fill: [],
  *replace({ valId, isPublic, name, body }) {
    yield sql`update search_texts set is_public = ${isPublic ? 1 : 0}, name = ${name}, body = ${body} where val_id = ${valId}`
  },
  find(column, folded, countMax) {
    const text = raw(`t.${column}`)
    const trigrams = rareTrigrams(folded, limits.trigramsMax, foldText)
    const contains = (part: string) => sql`${text} like ${`%${part}%`}`
    const allOf = (conditions: readonly Statement[]) =>
      sql`${join(conditions, " and ")} and strpos(${text}, ${folded}) > 0`
    // A function that no index knows keeps PostgreSQL from asking the index for the frequent
    // trigrams too, which takes most of the time; where even the rarest are frequent, it had better
    // ask for all of them.
    const condition =
      (trigrams[0]?.rarity ?? 0) < limits.rarityMin
        ? contains(folded)
        : allOf(trigrams.map((trigram) => contains(trigram.text)))
    return sql`select t.val_id from search_texts t where t.is_public = 1 and ${condition} limit ${countMax}`
  },
  isExact: true,
  contains: (column, folded) => sql`strpos(t.${raw(column)}, ${folded}) > 0`,
}
