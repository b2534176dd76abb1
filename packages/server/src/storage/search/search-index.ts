import { type Statement, type Statements, sql } from "@hamlet/database"

/** The text of a val itself, folded: its name, and its code, readme and description. */
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
  /**
   * Replaces the text of a val itself, and makes the texts of its other files as public as it is, or
   * leaves that to housekeeping. Does nothing if the val was deleted.
   */
  replace(text: SearchText): Statements<void>
  /** Replaces the text of another file of a val, if it has one. */
  replaceBody(valId: string, path: string, body: string): Statements<void>
  /**
   * Selects `key` and `val_id` of the texts of public vals that contain the folded query, which has at
   * least three characters. Where it is not exact, selects texts that may contain it. Stops at
   * `countMax`.
   */
  find(column: "name" | "body", folded: string, countMax: number): Statement
  /** Whether all texts of `find` contain the query. */
  readonly isExact: boolean
  /**
   * The position of a folded text in a column of the text `t`, from 1 on; 0 if it is not there. Uses a
   * function that is much faster than LIKE in the worst case.
   */
  position(column: "name" | "body", folded: string): Statement
}

/** Whether a column of the text `t` contains the folded query. */
export function contains(index: SearchIndex, column: "name" | "body", folded: string): Statement {
  return sql`${index.position(column, folded)} > 0`
}

/** Trigrams of a query that an index is asked for. The text itself is compared afterwards. */
export const trigramsMax = 3
