import { firstRow, raw, type Statements, sql } from "@hamlet/database"
import { foldText } from "./fold-text.ts"
import { rareTrigrams } from "./rare-trigrams.ts"
import { type SearchIndex, trigramsMax } from "./search-index.ts"
import { findChangedPart } from "./trigram-diff.ts"

/**
 * Two FTS5 tables over search_texts, without a copy of the text and without positions: with these
 * the index would be three times as large, and a phrase of frequent trigrams would take seconds.
 * Triggers keep them up to date, except for a new body, which is the most frequent change: indexing
 * only the changed part takes a tenth of the time, and a statement with triggers makes FTS5 flush
 * its index. A val that is no longer public stays in the index (`is_public` is 1), and the search
 * leaves it out: its owner may change it back and forth, and each time would take a second.
 */
export const fts5Index: SearchIndex = {
  // The `rebuild` command of FTS5 would index the vals that are not public too.
  fill: ["name", "body"].map(
    (column) =>
      `insert into search_${column} (rowid, ${column}) select key, ${column} from search_texts where is_public = 1 order by key`,
  ),
  *replace({ valId, isPublic, name, body }) {
    const before = yield* firstRow<TextRow>`
      select key, is_public, name, body from search_texts where val_id = ${valId} and path = ''`
    if (!before) return
    const { key, isPublic: isIndexed } = before
    if ((isPublic && !isIndexed) || before.name !== name) {
      yield sql`update search_texts set is_public = ${isPublic || isIndexed ? 1 : 0}, name = ${name}, body = ${body} where key = ${key}`
    } else if (before.body !== body) {
      yield sql`update search_texts set body = ${body} where key = ${key}`
      // The index has the text as SQLite has stored it: UTF-8 has no lone surrogates.
      if (isIndexed) yield* reindexBody(key, before.body, body.toWellFormed())
    }
    // Indexing all files of a val takes a second, and other requests wait meanwhile.
    if (isPublic && !isIndexed)
      yield sql`insert into search_backlog (val_id) select val_id from search_texts where val_id = ${valId} and path <> '' and is_public = 0 limit 1 on conflict do nothing`
  },
  *replaceBody(valId, path, body) {
    const before = yield* firstRow<TextRow & { readonly isValPublic: boolean }>`
      select t.key, t.is_public, t.name, t.body, v.is_public as is_val_public
        from search_texts t join search_texts v on v.val_id = t.val_id and v.path = ''
        where t.val_id = ${valId} and t.path = ${path}`
    if (!before) return
    const { key } = before
    if (!before.isPublic && before.isValPublic)
      yield sql`update search_texts set is_public = 1, body = ${body} where key = ${key}`
    else if (before.body !== body) {
      yield sql`update search_texts set body = ${body} where key = ${key}`
      if (before.isPublic) yield* reindexBody(key, before.body, body)
    }
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
  readonly isPublic: boolean
  readonly name: string
  readonly body: string
}

function* reindexBody(key: number, before: string, after: string): Statements<void> {
  const changed = findChangedPart(before, after)
  yield sql`insert into search_body (search_body, rowid, body) values ('delete', ${key}, ${changed.before})`
  yield sql`insert into search_body (rowid, body) values (${key}, ${changed.after})`
}
