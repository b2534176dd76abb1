import { Refused } from "@hamlet/kit"

/** Where a page starts: after the item with these sort keys. */
export interface Cursor {
  readonly keys: CursorKeys
}

/** The sort keys of one item. */
export type CursorKeys = readonly CursorKey[]

/** One sort key: a time, a count, an id, a name, or null. */
export type CursorKey = string | number | null

/**
 * Which part of a list is wanted: what comes after the cursor, or after so many items where there
 * is none.
 */
export interface PageRequest {
  readonly limit: number
  readonly offset: number
  readonly cursor?: Cursor | undefined
  /** Without it, a page may have texts of any size. */
  readonly room?: PageRoom | undefined
}

/** The memory that one page may use. Pages with long texts take it before they read them. */
export interface PageRoom {
  /** The page ends before the item with which it would be longer, unless that is its first one. */
  readonly bytesMax: number
  /** Waits until there is memory for a page. */
  take(): Promise<void>
}

/** A part of a list, and whether there is more after it. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly hasMore: boolean
  /** The cursor of the next page, where there is one. */
  readonly next?: CursorKeys | undefined
  /** Whether it has fewer items than the limit, and the next one follows, because its texts are long. */
  readonly isCut?: boolean | undefined
  /** The cursor of a page that begins after the item at this index, in a list with cursors. */
  readonly toCursor?: ((index: number) => CursorKeys) | undefined
}

/** The refusal of a cursor that this list has not made. */
export function foreignCursor(): Refused {
  const issues = [{ path: "cursor", message: "must be the cursor of a link of the same list" }]
  return new Refused("invalid_request", 'Cannot read the list: "cursor" is of another list', {
    issues,
  })
}

/** A span of time in milliseconds: `since` is exclusive, `until` inclusive. */
export interface Period {
  readonly since?: number | undefined
  readonly until?: number | undefined
}
