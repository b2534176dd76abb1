import type { CursorKeys } from "@hamlet/contract"
import type { Page, PageRequest } from "../../domain/paging.ts"
import type { Val } from "../../domain/vals/vals.ts"
import type { Candidates, Database, Hit } from "../database/database.ts"
import { findCursor } from "../database/pagination.ts"
import { join, raw, sql } from "../database/sql.ts"
import { readVals } from "../vals/read-vals.ts"
import { isListed, listedColumns, toVal, withCurrentVersion } from "../vals/val-rows.ts"
import { foldText } from "./fold-text.ts"
import {
  findIndexed,
  hitsByIds,
  hitsByNamePrefix,
  hitsInOrder,
  isRankedAfter,
  type Pattern,
} from "./search-hits.ts"
import type { SearchIndex } from "./search-index.ts"
import { byRank } from "./search-limits.ts"

const limits = {
  /**
   * Of a val's public neighbours, so many of the best ranked are looked through before the index is
   * asked.
   */
  sampleRows: 500,
  /** How far we walk down the ranking when the sample says that hits are frequent. */
  walkRowsMax: 10_000,
  /**
   * How many of their own hidden vals a viewer searches: those that are liked most, then the
   * newest.
   */
  hiddenRowsMax: 20_000,
  /**
   * How many of the vals that an index names are looked at: the newest on SQLite, which compares
   * their texts, some on PostgreSQL.
   */
  indexHitsMax: 20_000,
  /** A trigram index answers nothing shorter. */
  indexedCharsMin: 3,
}

/**
 * Vals whose name, code or readme contains the query, ignoring case; those whose name does come
 * first, then the most liked, then the newest. Where nearly everything matches, ranking all hits
 * would take seconds, but walking down the ranking finds a page at once; where hardly anything
 * does, the walk finds nothing, but the index has few hits to rank. A small sample tells which it
 * is.
 */
export async function searchVals(
  db: Database,
  viewerId: string | undefined,
  query: string,
  page: PageRequest,
  searcher = viewerId ?? "",
): Promise<Page<Val>> {
  const pattern = toPattern(query)
  const after = toHit(findCursor(page, ["integer", "integer", "time", "id"]))
  const skipped = after ? 0 : page.offset
  const wanted = skipped + page.limit + 1
  const index = db.dialect.search
  const search = db.openSearch(searcher)
  const find = (candidates: Candidates) => search.find(candidates)
  const shown = await findPublicHits(index, find, { pattern, wanted, after })
  const hidden =
    viewerId === undefined
      ? []
      : await find(
          hitsInOrder(
            index,
            pattern,
            sql`privacy <> 'public' and owner_id = ${viewerId}`,
            limits.hiddenRowsMax,
          ),
        )
  const hits = [...shown, ...hidden].filter(isAfter(after)).sort(byRank).slice(skipped, wanted)
  if (hits.length === 0) return { items: [], hasMore: false }
  const last = hits.length > page.limit ? hits[page.limit - 1] : undefined
  const shownHits = hits.slice(0, page.limit)
  const list = sql`
    select ${listedColumns} from vals v ${withCurrentVersion}
    where v.id in (${join(
      shownHits.map(({ id }) => sql`${id}`),
      ", ",
    )}) and ${isListed("v", viewerId)}`
  const rows = await readVals(db, list)
  const found = new Map(rows.map((row) => [row.id, row]))
  const items = shownHits.flatMap(({ id }) => found.get(id) ?? []).map(toVal)
  return { items, hasMore: last !== undefined, next: last && toKeys(last) }
}

function toKeys(hit: Hit): CursorKeys {
  return [hit.is_name, hit.like_count, Number(hit.created_at), hit.id]
}

/** The hit that a cursor was made of. */
function toHit(keys: CursorKeys | undefined): Hit | undefined {
  if (keys === undefined) return undefined
  const [isName, likes, createdAt, id] = keys
  return {
    is_name: Number(isName),
    like_count: Number(likes),
    created_at: Number(createdAt),
    id: String(id),
  }
}

/** Without a hit to come after, every one does. */
function isAfter(before: Hit | undefined): (hit: Hit) => boolean {
  return (hit) => before === undefined || (hit.id !== before.id && byRank(before, hit) < 0)
}

/** Short queries are the beginning of a name, or punctuation, which no name contains. */
function toPattern(query: string): Pattern {
  const folded = foldText(query)
  if ([...folded].length >= limits.indexedCharsMin)
    return { name: `%${folded}%`, body: folded, indexed: folded, prefix: undefined }
  const isNamePart = /^[a-z0-9_]+$/i.test(query)
  return isNamePart
    ? { name: `${folded}%`, body: undefined, indexed: undefined, prefix: query.toLowerCase() }
    : { name: undefined, body: folded, indexed: undefined, prefix: undefined }
}

type Find = (candidates: Candidates) => Promise<readonly Hit[]>

interface Wanted {
  readonly pattern: Pattern
  readonly wanted: number
  /** The hit that those that are wanted come after. */
  readonly after: Hit | undefined
}

/** The best `wanted` public hits. */
async function findPublicHits(
  index: SearchIndex,
  find: Find,
  { pattern, wanted, after }: Wanted,
): Promise<readonly Hit[]> {
  // After a hit in a name, every hit elsewhere is still to come; after one elsewhere, no name is.
  const [afterName, afterBody] = [
    after?.is_name === 0 ? undefined : after,
    after?.is_name === 0 ? after : undefined,
  ]
  const isPublic = afterBody
    ? sql`privacy = 'public' and ${isRankedAfter(afterBody)}`
    : raw("privacy = 'public'")
  const sample = await find(hitsInOrder(index, pattern, isPublic, limits.sampleRows))
  const sampledNames = sample.filter((hit) => hit.is_name === 1).filter(isAfter(after))
  if (sampledNames.length >= wanted) return sampledNames
  const names =
    pattern.name === undefined || afterBody
      ? []
      : await find(hitsInNames(index, pattern, wanted, afterName))
  const bodiesWanted = wanted - names.length
  if (bodiesWanted <= 0 || pattern.body === undefined) return names
  const bodies = (hits: readonly Hit[]) => hits.filter((hit) => hit.is_name === 0)
  if (bodies(sample).length >= bodiesWanted) return [...names, ...bodies(sample)]
  const walk = async (rowsMax: number) =>
    bodies(await find(hitsInOrder(index, pattern, isPublic, rowsMax)))
  if (pattern.indexed === undefined) return [...names, ...(await walk(limits.walkRowsMax))]
  // Twice as far as the sample promises; a sample without a hit promises nothing.
  const walkRows = Math.ceil((2 * limits.sampleRows * bodiesWanted) / bodies(sample).length)
  if (walkRows <= limits.walkRowsMax) {
    const walked = await walk(walkRows)
    if (walked.length >= bodiesWanted) return [...names, ...walked]
  }
  const found = findIndexed(index, "body", pattern.indexed, limits.indexHitsMax)
  return [...names, ...(await find(hitsByIds(found, pattern, bodiesWanted, 0, afterBody)))]
}

function hitsInNames(
  index: SearchIndex,
  pattern: Pattern,
  wanted: number,
  after: Hit | undefined,
): Candidates {
  const found =
    pattern.prefix === undefined
      ? findIndexed(index, "name", pattern.indexed ?? "", limits.indexHitsMax)
      : { ids: hitsByNamePrefix(pattern.prefix, limits.indexHitsMax), check: undefined }
  return hitsByIds(found, pattern, wanted, 1, after)
}
