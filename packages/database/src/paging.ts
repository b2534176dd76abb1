import { createTimeSlice } from "@hamlet/kit"
import type { Database } from "./database.ts"
import {
  type CursorKey,
  type CursorKeys,
  foreignCursor,
  type Page,
  type PageRequest,
  type Period,
} from "./page.ts"
import type { RecordOf } from "./records.ts"
import { join, nothing, raw, type Sql, type Statement, sql } from "./sql.ts"

/** Below all ids: a search from there on in an index, where a database would scan the index. */
export const firstId = "00000000-0000-0000-0000-000000000000"

/**
 * Selects one row more than the page holds: its presence shows that there is a next page, without
 * counting.
 */
export function limitTo(page: PageRequest): Statement {
  return page.cursor
    ? sql`limit ${page.limit + 1}`
    : sql`limit ${page.limit + 1} offset ${page.offset}`
}

/** More than can exist: SQLite accepts an offset only after a limit. */
const rowsMax = 1_000_000

/** The rows after the first `count`, which are too many. */
export function beyond(count: number): Statement {
  return sql`limit ${rowsMax} offset ${count}`
}

/** How many rows of one part of a list can be on the page, when several parts are merged. */
export function limitPart(page: PageRequest): Statement {
  return sql`limit ${(page.cursor ? 0 : page.offset) + page.limit + 1}`
}

/**
 * The items of the page, converted, without the extra row of `limitTo`. `toKeys` returns the sort
 * keys of an item: the next page begins after the last one. `isCut`: rows are missing, because they
 * are too long for the page.
 */
export function toPage<Row, Item>(
  rows: readonly Row[],
  page: PageRequest,
  convert: (row: Row) => Item,
  toKeys?: (row: Row) => CursorKeys,
  isCut = false,
): Page<Item> {
  const shown = rows.slice(0, page.limit)
  const hasMore = isCut || rows.length > page.limit
  const last = shown.at(-1)
  return {
    items: shown.map(convert),
    hasMore,
    next: hasMore && last !== undefined ? toKeys?.(last) : undefined,
    isCut,
    toCursor: toKeys && ((index) => toKeys(shown[index] as Row)),
  }
}

/**
 * A list does not read texts that are longer than this with its rows, but one row at a time: a page of
 * the longest ones would be a single read of 40 MB.
 */
export const listedTextBytesMax = 16_384

/** The texts of a list whose rows lack the long ones. */
export interface LongTexts<Listed, Row> {
  /** Whether the row lacks a text. */
  isShort(row: Listed): boolean
  /** Reads what the row lacks. */
  complete(row: Listed): Promise<Row>
  /** How long the texts are. In JSON they are at least as long. */
  countChars(row: Row): number
}

/**
 * The page of these rows with all of their texts. It ends early when it is full, and the texts behind
 * its end are not read.
 */
export async function readLongTexts<Listed, Row, Item>(
  rows: readonly Listed[],
  page: PageRequest,
  texts: LongTexts<Listed, Row>,
  convert: (row: Row) => Item,
  toKeys: (row: Row) => CursorKeys,
): Promise<Page<Item>> {
  const shown = rows.slice(0, page.limit)
  const hasMore = rows.length > page.limit
  const complete: Row[] = []
  const { room } = page
  const charsMax = room?.bytesMax ?? Number.POSITIVE_INFINITY
  const pace = createTimeSlice()
  let isRoomTaken = false
  let chars = 0
  for (const row of shown) {
    if (chars > charsMax) break
    let one = row as Row & Listed
    if (texts.isShort(row)) {
      if (!isRoomTaken) await room?.take()
      isRoomTaken = true
      one = (await texts.complete(row)) as Row & Listed
    }
    complete.push(one)
    chars += texts.countChars(one)
    await pace()
  }
  const isCut = complete.length < shown.length
  return { ...toPage(complete, page, convert, toKeys, hasMore || isCut), isCut }
}

/** For a page whose items are the rows. */
export const asIs = <Row>(row: Row): Row => row

/**
 * The kinds of keys in a cursor. A key that its column cannot hold never reaches the database.
 */
export type KeyKind = "id" | "time" | "integer" | "text"

const integerMax = 2_147_483_647

const fits: Readonly<Record<KeyKind, (key: CursorKey) => boolean>> = {
  id: (key) => typeof key === "string" && /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(key),
  time: (key) => typeof key === "number",
  integer: (key) => typeof key === "number" && Math.abs(key) <= integerMax,
  text: (key) => typeof key === "string",
}

/**
 * The keys of the item after which the page begins; undefined where the page has no cursor. Rejects
 * the cursor of another list.
 */
export function findCursor(
  page: PageRequest,
  kinds: readonly KeyKind[],
  canBeNull = false,
): CursorKeys | undefined {
  const keys = page.cursor?.keys
  if (keys === undefined) return undefined
  const isOfList =
    keys.length === kinds.length &&
    keys.every((key, index) => (key === null ? canBeNull : fits[kinds[index] ?? "id"](key)))
  if (isOfList) return keys
  throw foreignCursor()
}

/**
 * A further condition: the rows after the cursor, in a list that is sorted by all of these columns
 * in one direction. The last column is unique.
 */
export function afterCursor(
  page: PageRequest,
  columns: string,
  kinds: readonly KeyKind[],
  direction: "asc" | "desc" = "desc",
): Statement {
  const keys = findCursor(page, kinds)
  if (keys === undefined) return nothing
  const values = join(
    keys.map((key) => sql`${key}`),
    ", ",
  )
  return sql`and (${raw(columns)}) ${raw(direction === "desc" ? "<" : ">")} (${values})`
}

/** The order of a list: by all of these columns, downwards. The last one is unique. */
export interface ListOrder<Row> {
  readonly columns: string
  readonly kinds: readonly KeyKind[]
  toKeys(row: Row): CursorKeys
}

/** Creates the order of a list. */
export function listOrder<Row>(
  columns: string,
  kinds: readonly KeyKind[],
  toKeys: (row: Row) => CursorKeys,
): ListOrder<Row> {
  return { columns, kinds, toKeys }
}

/** The order of most lists: the newest first. */
export const newestFirst = newestOf("")

/** The newest first, with columns of a table that has an alias. */
export function newestOf(alias: "" | `${string}.`): ListOrder<NewestRow> {
  const columns = `${alias}created_at, ${alias}id`
  return listOrder(columns, ["time", "id"], (row) => [row.createdAt, row.id])
}

/** Ids are version 7 UUIDs, which begin with the time: the newest first. */
export function idOrder(alias: "" | `${string}.`): ListOrder<Pick<NewestRow, "id">> {
  return listOrder(`${alias}id`, ["id"], (row) => [row.id])
}

/** A page of the rows that a statement selects, which ends with a condition. */
export function readPage<Row extends RecordOf<Row>, Item = Row>(
  db: Pick<Database, "read">,
  page: PageRequest,
  { columns, kinds, toKeys }: ListOrder<Row>,
  convert: (row: Row) => Item = asIs as (row: Row) => Item & Row,
): (...select: Sql) => Promise<Page<Item>> {
  const order = raw(`${columns.split(", ").join(" desc, ")} desc`)
  return async (...select) => {
    const after = afterCursor(page, columns, kinds)
    const found = await db.read<Row>`${sql(...select)} ${after} order by ${order} ${limitTo(page)}`
    return toPage(found, page, convert, toKeys)
  }
}

/** The columns that a list with the newest first is sorted by. */
export interface NewestRow {
  readonly createdAt: number
  readonly id: string
}

/**
 * Further conditions that limit a column to a period: `since` is exclusive, `until` inclusive.
 */
export function within(column: string, period: Period): Statement {
  const since = period.since === undefined ? nothing : sql`and ${raw(column)} > ${period.since}`
  const until = period.until === undefined ? nothing : sql`and ${raw(column)} <= ${period.until}`
  return sql`${since} ${until}`
}
