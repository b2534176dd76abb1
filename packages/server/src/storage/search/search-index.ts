import type { Statement, Statements } from "../database/sql.ts"

/** What search looks through of a val, folded. */
export interface SearchText {
  readonly valId: string
  readonly isPublic: boolean
  readonly name: string
  readonly body: string
}

/** A trigram index over the texts of public vals. */
export interface SearchIndex {
  /** Puts all texts into the index after they were written without it. */
  readonly fill: readonly string[]
  /** Replaces the text of a val, if there still is one. */
  replace(text: SearchText): Statements<void>
  /**
   * Selects the `val_id` of public vals whose text contains the folded query of at least three
   * characters, or may do so where it is not exact. Of very many, not all are found.
   */
  find(column: "name" | "body", folded: string, countMax: number): Statement
  /** Whether `find` names only what contains the query. */
  readonly isExact: boolean
  /**
   * Whether a column of the text `t` contains the folded query: by a function that takes much less
   * time than LIKE does in the worst case.
   */
  contains(column: "name" | "body", folded: string): Statement
}

/** Trigrams of a query that an index is asked for. The text itself is compared afterwards. */
export const trigramsMax = 3
