import { join, raw, type Statement, sql } from "@hamlet/database"
import { foldText } from "./fold-text.ts"
import { rareTrigrams } from "./rare-trigrams.ts"
import { type SearchIndex, trigramsMax } from "./search-index.ts"

/** A trigram of at least this rarity is probably in few texts. */
const rarityMin = 45

/**
 * Two GIN indexes with pg_trgm, a trusted extension, which the owner of a database may create.
 */
export const pgTrgmIndex: SearchIndex = {
  fill: [],
  *replace({ valId, isPublic, name, body }) {
    const publicity = isPublic ? 1 : 0
    // One statement: a save waits for each round trip.
    yield sql`update search_texts set is_public = ${publicity}, name = case when path = '' then ${name} else '' end,
      body = case when path = '' then ${body} else body end where val_id = ${valId} and (path = '' or is_public <> ${publicity})`
  },
  *replaceBody(valId, path, body) {
    yield sql`update search_texts set body = ${body} where val_id = ${valId} and path = ${path}`
  },
  find(column, folded, countMax) {
    const text = raw(`t.${column}`)
    const trigrams = rareTrigrams(folded, trigramsMax, foldText)
    const contains = (part: string) => sql`${text} like ${`%${part}%`}`
    const allOf = (conditions: readonly Statement[]) =>
      sql`${join(conditions, " and ")} and strpos(${text}, ${folded}) > 0`
    // `strpos` is not indexed. It keeps PostgreSQL from looking up the frequent trigrams in the
    // index, which takes most of the time. Where even the rarest trigrams are frequent, looking up
    // all of them is faster.
    const condition =
      (trigrams[0]?.rarity ?? 0) < rarityMin
        ? contains(folded)
        : allOf(trigrams.map((trigram) => contains(trigram.text)))
    return sql`select t.key, t.val_id from search_texts t where t.is_public = 1 and ${condition} limit ${countMax}`
  },
  isExact: true,
  position: (column, folded) => sql`strpos(t.${raw(column)}, ${folded})`,
}
