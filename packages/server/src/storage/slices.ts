import type { Page, Slice } from "../domain/paging.ts"
import { type Statement, sql } from "./sql.ts"

/** One row more than the page holds is asked for: that is how we know that there is a next page without counting. */
export function limitTo(page: Page): Statement {
  return sql`limit ${page.limit + 1} offset ${page.offset}`
}

/** How many rows of one part of a list can be on the page, when several parts are merged. */
export function limitPart(page: Page): Statement {
  return sql`limit ${page.offset + page.limit + 1}`
}

/** The page's items, converted, without the one that was only asked for to see whether it is there. */
export function toSlice<Row, Item>(rows: readonly Row[], page: Page, convert: (row: Row) => Item): Slice<Item> {
  return { items: rows.slice(0, page.limit).map(convert), hasMore: rows.length > page.limit }
}
