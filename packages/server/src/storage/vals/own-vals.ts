import { type CursorKeys, toValNameKey } from "@hamlet/contract"
import {
  afterCursor,
  type Database,
  findCursor,
  type KeyKind,
  limitTo,
  nothing,
  raw,
  type Statement,
  sql,
} from "@hamlet/database"
import { replaceEach } from "@hamlet/kit"
import type { OwnValFilter, OwnValSort, OwnValStore } from "../../domain/vals/val-lists.ts"
import type { Val, ValPageRequest } from "../../domain/vals/vals.ts"
import { entryType } from "../files/branch-rows.ts"
import { readVals } from "./read-vals.ts"
import { toListedColumns, updatedAt, withCurrentVersion } from "./val-rows.ts"

const limits = {
  /**
   * How many of the newest vals are sorted where no index has the order. It takes a few
   * milliseconds.
   */
  sortedMax: 10_000,
}

/** The list of an owner's own vals. */
export function createOwnValStore(db: Database, { sortedMax } = limits): OwnValStore {
  return {
    list: (ownerId, filter, page) =>
      readVals<SortedRow>(db, page, listOwn(ownerId, filter, page, sortedMax), (row) =>
        toKeys(row, filter.sort),
      ),
  }
}

/** A val with its sort key. */
interface SortedRow extends Val {
  readonly sortKey: number | null
}

function toKeys({ id, sortKey: key }: SortedRow, sort: OwnValSort): CursorKeys {
  if (sort === "name") return [key]
  return [key, id]
}

const columns: Readonly<Record<OwnValSort, string>> = {
  created: "created_at",
  updated: "updated_at",
  name: "name_key",
  likes: "like_count",
  run: "run_started_at",
}

/** The orders that an index has: the list is read from it, in order and limited. */
const indexedSorts: readonly OwnValSort[] = ["created", "name"]

function listOwn(
  ownerId: string,
  filter: OwnValFilter,
  page: ValPageRequest,
  sortedMax: number,
): Statement {
  const { sort, order = sort === "name" ? "asc" : "desc" } = filter
  const isIndexed = indexedSorts.includes(sort)
  const own = isIndexed
    ? sql`vals own where own.owner_id = ${ownerId}`
    : sql`(select v.id, v.name_key, v.privacy, v.like_count, v.run_started_at ${sort === "updated" ? sql`, ${updatedAt}` : nothing}
        from vals v ${sort === "updated" ? raw("join branches b on b.id = v.id") : nothing} where v.owner_id = ${ownerId}
        order by v.created_at desc, v.id desc limit ${sortedMax}) own where 1 = 1`
  // Vals that have never run come last in both directions. The databases disagree on the default.
  const direction = isIndexed ? order : `${order} nulls last`
  // The names of an owner's vals are unique, and the index has no other column.
  const ties = (alias: string) => (sort === "name" ? "" : `, ${alias}.id ${order}`)
  return sql`
    select ${toListedColumns(page)}, found.sort_key from (select own.id, own.${raw(columns[sort])} as sort_key from ${own}
      ${conditionsOf(filter)} ${isIndexed ? afterIndexed(page, sort, order) : afterSorted(page, sort, order)}
      order by ${raw(`own.${columns[sort]} ${direction}${ties("own")}`)} ${limitTo(page)}) found
    join vals v on v.id = found.id ${withCurrentVersion}
    order by ${raw(`found.sort_key ${direction}${ties("found")}`)}`
}

function afterIndexed(page: ValPageRequest, sort: OwnValSort, order: "asc" | "desc"): Statement {
  if (sort === "name") return afterCursor(page, "own.name_key", ["text"], order)
  return afterCursor(page, "own.created_at, own.id", ["time", "id"], order)
}

/**
 * Vals without a sort key come last, in both directions. A val that is saved, liked or run between
 * two pages moves; the others keep their positions.
 */
function afterSorted(page: ValPageRequest, sort: OwnValSort, order: "asc" | "desc"): Statement {
  const kind: KeyKind = sort === "likes" ? "integer" : "time"
  const [key = null, id = null] = findCursor(page, [kind, "id"], sort === "run") ?? []
  if (id === null) return nothing
  const column = raw(`own.${columns[sort]}`)
  const beyond = raw(order === "asc" ? ">" : "<")
  if (key === null) return sql`and ${column} is null and own.id ${beyond} ${id}`
  return sql`and (${column} is null or (${column}, own.id) ${beyond} (${key}, ${id}))`
}

function conditionsOf({ query, privacy, type }: OwnValFilter): Statement {
  return sql`${query ? sql`and own.name_key like ${`%${escapeLike(toValNameKey(query))}%`} escape '\\'` : nothing}
    ${privacy ? sql`and own.privacy = ${privacy}` : nothing} ${
      type
        ? sql`and exists (select 1 from branches b where b.id = own.id and ${entryType} = ${type})`
        : nothing
    }`
}

function escapeLike(text: string): string {
  return replaceEach(text, /[\\%_]/g, "\\$&", 10_000)
}
