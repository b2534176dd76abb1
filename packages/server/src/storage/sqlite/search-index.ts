import { firstRow } from "../database/database.ts"
import { raw, type Statements, sql } from "../database/sql.ts"
import { foldText } from "../search/fold-text.ts"
import { rareTrigrams } from "../search/rare-trigrams.ts"
import { type SearchIndex, trigramsMax } from "../search/search-index.ts"
import { findChangedPart } from "../search/trigram-diff.ts"

/**
 * Two FTS5 tables over search_texts, without a copy of the text and without positions: with these
 * the index would be three times as large, and a phrase of frequent trigrams would take seconds.
 * Triggers keep them up to date, except for a new body, which is the most frequent change: indexing
 * only the changed part takes a tenth of the time, and a statement with triggers makes FTS5 flush
 * its index.
 */
export const sqliteSearchIndex: SearchIndex = {
  // The `rebuild` command of FTS5 would index the vals that are not public too.
  fill: ["name", "body"].map(
    (column) =>
      `insert into search_${column} (rowid, ${column}) select key, ${column} from search_texts where is_public = 1 order by key`,
  ),
  *replace({ valId, isPublic, name, body }) {
    const before = yield* firstRow<TextRow>(
      sql`select key, is_public, name, body from search_texts where val_id = ${valId} and path = ''`,
    )
    if (!before) return
    const { key } = before
    if ((before.is_public === 1) !== isPublic)
      yield sql`update search_texts set is_public = ${isPublic ? 1 : 0} where val_id = ${valId} and path <> ''`
    if ((before.is_public === 1) !== isPublic || before.name !== name) {
      yield sql`update search_texts set is_public = ${isPublic ? 1 : 0}, name = ${name}, body = ${body} where key = ${key}`
    } else if (before.body !== body) {
      yield sql`update search_texts set body = ${body} where key = ${key}`
      // As SQLite has stored it: UTF-8 has no lone surrogates.
      if (isPublic) yield* reindexBody(key, before.body, body.toWellFormed())
    }
  },
  *replaceBody(valId, path, body) {
    const before = yield* firstRow<TextRow>(
      sql`select key, is_public, name, body from search_texts where val_id = ${valId} and path = ${path}`,
    )
    if (!before || before.body === body) return
    yield sql`update search_texts set body = ${body} where key = ${before.key}`
    if (before.is_public === 1) yield* reindexBody(before.key, before.body, body)
  },
  find(column, folded, countMax) {
    const index = raw(`search_${column}`)
    const all = rareTrigrams(folded, trigramsMax, foldText).map(({ text }) => `"${text}"`)
    return sql`
      select t.key, t.val_id from (select rowid as key from ${index} where ${index} match ${all.join(" AND ")} order by rowid desc limit ${countMax}) hit
      join search_texts t on t.key = hit.key`
  },
  isExact: false,
  position: (column, folded) => sql`instr(t.${raw(column)}, ${folded})`,
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
