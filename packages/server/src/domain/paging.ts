import type { Cursor, CursorKeys } from "@hamlet/contract"

/**
 * Which part of a list is wanted: what comes after the cursor, or after so many items where there
 * is none.
 */
export interface PageRequest {
  readonly limit: number
  readonly offset: number
  readonly cursor?: Cursor | undefined
  /** The texts that a list of vals leaves out; it has only the beginning of each. */
  readonly omit?: readonly OmittedText[] | undefined
}

/** A text of a val that a list can leave out. */
export type OmittedText = "code" | "readme"

/** A part of a list, and whether there is more after it. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly hasMore: boolean
  /** The cursor of the next page, where there is one. */
  readonly next?: CursorKeys | undefined
}

/** A span of time in milliseconds: `since` is exclusive, `until` inclusive. */
export interface Period {
  readonly since?: number | undefined
  readonly until?: number | undefined
}
