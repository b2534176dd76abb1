/** Which part of a list is wanted. */
export interface Page {
  readonly limit: number
  readonly offset: number
}

/** A part of a list, and whether there is more after it. */
export interface Slice<Item> {
  readonly items: readonly Item[]
  readonly hasMore: boolean
}

/** A span of time in milliseconds: `since` is exclusive, `until` inclusive. */
export interface Period {
  readonly since: number | undefined
  readonly until: number | undefined
}
