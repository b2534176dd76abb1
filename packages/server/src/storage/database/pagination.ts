import type { CursorKeys } from "@hamlet/contract"
import type { Page, PageRequest } from "../../domain/paging.ts"
import { type Statement, sql } from "./sql.ts"

/**
 * One row more than the page holds is asked for: that is how we know that there is a next page
 * without counting.
 */
export function limitTo(page: PageRequest): Statement {
  return page.cursor
    ? sql`limit ${page.limit + 1}`
    : sql`limit ${page.limit + 1} offset ${page.offset}`
}

/** How many rows of one part of a list can be on the page, when several parts are merged. */
export function limitPart(page: PageRequest): Statement {
  return sql`limit ${(page.cursor ? 0 : page.offset) + page.limit + 1}`
}

/**
 * The page's items, converted, without the one that was only asked for to see whether it is there.
 * `toKeys` gives what the list is ordered by, of the last item: the next page begins after it.
 */
export function toPage<Row, Item>(
  rows: readonly Row[],
  page: PageRequest,
  convert: (row: Row) => Item,
  toKeys?: (row: Row) => CursorKeys,
): Page<Item> {
  const shown = rows.slice(0, page.limit)
  const hasMore = rows.length > page.limit
  const last = shown.at(-1)
  return {
    items: shown.map(convert),
    hasMore,
    next: hasMore && last !== undefined ? toKeys?.(last) : undefined,
  }
}
