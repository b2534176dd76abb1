import type { CursorKeys } from "@hamlet/contract"
import { readmePath } from "@hamlet/contract/entry-file"
import { type Candidates, type Database, findCursor, join, raw, sql } from "@hamlet/database"
import type { Page } from "@hamlet/database/page"
import type { Viewer } from "../../domain/access/rights.ts"
import type { FoundVal, Val, ValPageRequest } from "../../domain/vals/vals.ts"
import { isListed } from "../access/visibility.ts"
import { completeVals, readListedVals } from "../vals/read-vals.ts"
import { toListedColumns, withCurrentVersion } from "../vals/val-rows.ts"
import { findSearchIndex } from "./find-search-index.ts"
import { foldText } from "./fold-text.ts"
import {
  byRank,
  findIndexed,
  type Hit,
  hitsByIds,
  hitsByNamePrefix,
  hitsInOrder,
  isRankedAfter,
  type Pattern,
  placeOfCode,
  placeOfRest,
  placesIn,
} from "./search-hits.ts"
import type { SearchIndex } from "./search-index.ts"

const limits = {
  /**
   * How many of the best ranked public vals are compared before the index is used.
   */
  sampleRows: 500,
  /** How far to walk down the ranking when the sample shows that hits are frequent. */
  walkRowsMax: 10_000,
  /**
   * How many vals of an owner that are not public a viewer searches: the most liked, then the
   * newest.
   */
  hiddenRowsMax: 20_000,
  /**
   * How many vals are taken from an index: the newest ones on SQLite, which compares their texts;
   * any on PostgreSQL.
   */
  indexHitsMax: 20_000,
  /** A trigram index cannot find shorter queries. */
  indexedCharsMin: 3,
}

/**
 * Vals whose name, description or files contain the query, ignoring case: first those with the query
 * in the name, then the most liked, then the newest. Where nearly every val matches, ranking all hits
 * would take seconds, but a walk down the ranking finds a page at once. Where hardly any val
 * matches, the walk finds nothing, but the index has few hits to rank. A small sample shows which
 * case it is.
 */
export async function searchRanked(
  db: Database,
  viewer: Viewer | undefined,
  query: string,
  page: ValPageRequest,
  searcher = "",
): Promise<Page<FoundVal>> {
  const pattern = toPattern(query)
  const after = toHit(findCursor(page, ["integer", "integer", "time", "id"]))
  const skipped = after ? 0 : page.offset
  const wanted = skipped + page.limit + 1
  const index = findSearchIndex(db.dialect)
  const search = db.openSearch(searcher)
  const find = (candidates: Candidates) => search.find<Hit>(candidates)
  const shown = await findPublicHits(index, find, { pattern, wanted, after })
  const hidden: Hit[] = []
  for (const ownerId of viewer?.roles.keys() ?? []) {
    const condition = sql`privacy <> 'public' and owner_id = ${ownerId}`
    hidden.push(...(await find(hitsInOrder(index, pattern, condition, limits.hiddenRowsMax))))
  }
  const hits = [...shown, ...hidden].filter(isAfter(after)).sort(byRank).slice(skipped, wanted)
  if (hits.length === 0) return { items: [], hasMore: false }
  const last = hits.length > page.limit ? hits[page.limit - 1] : undefined
  const shownHits = hits.slice(0, page.limit)
  const list = sql`
    select ${toListedColumns(page)} from vals v ${withCurrentVersion}
    where v.id in (${join(
      shownHits.map(({ id }) => sql`${id}`),
      ", ",
    )}) and ${isListed(db.dialect, "v", viewer)}`
  const rows = new Map((await readListedVals(db, list)).map((row) => [row.id, row]))
  const byId = new Map(shownHits.map((hit) => [hit.id, hit]))
  const toKeysOf = ({ id }: Pick<Val, "id">) => toKeys(byId.get(id) as Hit)
  const ranked = shownHits.flatMap(({ id }) => rows.get(id) ?? [])
  const found = await completeVals<Val>(db, page, ranked, toKeysOf)
  const vals = found.items
  const inNames = new Set(shownHits.flatMap(({ id, isName }) => (isName ? [id] : [])))
  const inTexts = vals.filter(({ id }) => !inNames.has(id))
  const paths = await findPaths(index, find, inTexts, pattern.body ?? "")
  const items = vals.map((val) => ({ ...val, foundPath: paths.get(val.id) ?? null }))
  // A val that was hidden a moment ago is missing on the page: the next one begins after the last hit.
  return found.isCut
    ? { ...found, items }
    : { ...found, items, hasMore: last !== undefined, next: last && toKeys(last) }
}

function toKeys(hit: Hit): CursorKeys {
  return [hit.isName ? 1 : 0, hit.likeCount, hit.createdAt, hit.id]
}

/** The hit of a cursor. */
function toHit(keys: CursorKeys | undefined): Hit | undefined {
  if (keys === undefined) return undefined
  const [isName, likes, createdAt, id] = keys
  return {
    isName: isName === 1,
    likeCount: Number(likes),
    createdAt: Number(createdAt),
    id: String(id),
  }
}

/** Every hit, where there is no cursor. */
function isAfter(before: Hit | undefined): (hit: Hit) => boolean {
  return (hit) => before === undefined || (hit.id !== before.id && byRank(before, hit) < 0)
}

/** A short query is the beginning of a name, or punctuation, which names do not contain. */
function toPattern(query: string): Pattern {
  const folded = foldText(query)
  if ([...folded].length >= limits.indexedCharsMin)
    return { name: `%${folded}%`, body: folded, indexed: folded, prefix: undefined }
  const isNamePart = /^[a-z0-9_]+$/i.test(query)
  return isNamePart
    ? { name: `${folded}%`, body: undefined, indexed: undefined, prefix: query.toLowerCase() }
    : { name: undefined, body: folded, indexed: undefined, prefix: undefined }
}

/** The first file of each val that contains the query: its code, then the others, then its readme. */
async function findPaths(
  index: SearchIndex,
  find: Find,
  vals: readonly Val[],
  body: string,
): Promise<ReadonlyMap<string, string>> {
  const [others, single] = split(vals, hasOtherTexts)
  const paths = new Map(single.map(({ id, file }) => [id, file.path]))
  if (others.length === 0) return paths
  const places = await find(
    placesIn(
      index,
      others.map(({ id }) => id),
      body,
    ),
  )
  const byId = new Map(others.map((val) => [val.id, val]))
  for (const { id, place } of places) {
    const val = byId.get(id)
    const path = val && toPath(val, place, body)
    if (path !== undefined) paths.set(id, path)
  }
  return paths
}

function split<Item>(
  items: readonly Item[],
  isFirst: (item: Item) => boolean,
): readonly [readonly Item[], readonly Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

/** Whether a val has a text that search compares besides its code. */
function hasOtherTexts({ fileCount, description }: Val): boolean {
  return fileCount > 1 || description !== null
}

function toPath(val: Val, place: string | undefined, body: string): string | undefined {
  if (place === placeOfCode) return val.file.path
  if (place !== placeOfRest) return place?.slice(1)
  const isIn = (text: string) => foldText(text).includes(body)
  if (val.description !== null && isIn(val.description)) return undefined
  return isIn(val.file.path) ? val.file.path : readmePath
}

type Find = (candidates: Candidates) => Promise<readonly Hit[]>

interface Wanted {
  readonly pattern: Pattern
  readonly wanted: number
  /** The hit of the cursor. */
  readonly after: Hit | undefined
}

/** The best `wanted` public hits. */
async function findPublicHits(
  index: SearchIndex,
  find: Find,
  { pattern, wanted, after }: Wanted,
): Promise<readonly Hit[]> {
  // Hits in names come before all others: a cursor at one precedes every hit in a body, and a cursor
  // at a hit in a body follows every hit in a name.
  const [afterName, afterBody] = [
    after?.isName === false ? undefined : after,
    after?.isName === false ? after : undefined,
  ]
  const isPublic = afterBody
    ? sql`privacy = 'public' and ${isRankedAfter(afterBody)}`
    : raw("privacy = 'public'")
  const sample = await find(hitsInOrder(index, pattern, isPublic, limits.sampleRows))
  const sampledNames = sample.filter((hit) => hit.isName).filter(isAfter(after))
  if (sampledNames.length >= wanted) return sampledNames
  const names =
    pattern.name === undefined || afterBody
      ? []
      : await find(hitsInNames(index, pattern, wanted, afterName))
  const bodiesWanted = wanted - names.length
  if (bodiesWanted <= 0 || pattern.body === undefined) return names
  const bodies = (hits: readonly Hit[]) => hits.filter((hit) => !hit.isName)
  if (bodies(sample).length >= bodiesWanted) return [...names, ...bodies(sample)]
  const walk = async (rowsMax: number) =>
    bodies(await find(hitsInOrder(index, pattern, isPublic, rowsMax)))
  if (pattern.indexed === undefined) return [...names, ...(await walk(limits.walkRowsMax))]
  // Twice as far as the sample suggests. It is infinite for a sample without hits.
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
