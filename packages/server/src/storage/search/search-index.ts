import type { Statement, Statements } from "../database/sql.ts"

/** The texts of a val that search compares, folded. */
export interface SearchText {
  readonly valId: string
  readonly isPublic: boolean
  readonly name: string
  readonly body: string
}

/** A trigram index over the texts of public vals. */
export interface SearchIndex {
  /** Indexes all texts after they were inserted without the index. */
  readonly fill: readonly string[]
  /** Replaces the text of a val. Does nothing if the val was deleted. */
  replace(text: SearchText): Statements<void>
  /**
   * Selects the `val_id` of public vals whose text contains the folded query, which has at least
   * three characters. Where it is not exact, selects vals that may contain it. Stops at `countMax`.
   */
  find(column: "name" | "body", folded: string, countMax: number): Statement
  /** Whether all vals of `find` contain the query. */
  readonly isExact: boolean
  /**
   * Whether a column of the text `t` contains the folded query. Uses a function that is much faster
   * than LIKE in the worst case.
   */
  contains(column: "name" | "body", folded: string): Statement
}

/** Trigrams of a query that an index is asked for. The text itself is compared afterwards. */
export const trigramsMax = 3
