import { join, type SqlValue, type Statement, sql } from "./sql.ts"

/**
 * A statement with a list has a different text for each length of the list: with few lengths, few
 * statements are prepared.
 */
const sizes = [64, 8, 1]

/** The items in order, in batches of few different lengths. */
export function* inBatches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  let from = 0
  for (const size of sizes) {
    for (; from + size <= items.length; from += size) yield items.slice(from, from + size)
  }
}

/** `$1, $2, …` */
export function list(values: readonly SqlValue[]): Statement {
  return join(
    values.map((value) => sql`${value}`),
    ", ",
  )
}
