import type { Dialect } from "@hamlet/database"
import { fts5Index } from "./fts5-index.ts"
import { pgTrgmIndex } from "./pg-trgm-index.ts"
import type { SearchIndex } from "./search-index.ts"

const indexes: Readonly<Record<Dialect["trigrams"], SearchIndex>> = {
  fts5: fts5Index,
  pg_trgm: pgTrgmIndex,
}

/** The trigram index of a database. */
export function findSearchIndex(dialect: Dialect): SearchIndex {
  return indexes[dialect.trigrams]
}
