import { type Command, InvalidArgumentError } from "commander"
import { limits } from "../limits.ts"
import type { ListView } from "./list.ts"
import type { Output } from "./output.ts"

/** How much of a list is wanted. */
export interface ListingOptions {
  readonly limit: number
  readonly all?: true
}

/** Declares the options of a list. */
export function addListOptions(command: Command): Command {
  return command
    .option("-n, --limit <count>", "show at most so many", toCount, limits.listItemsDefault)
    .option("-a, --all", "show all of them, however many")
}

/** How many items to ask for at a time: one more than are shown, to know whether there are more. */
export function toPageLimit({ limit, all }: ListingOptions): number {
  return all ? limits.pageItemsMax : Math.min(limit + 1, limits.pageItemsMax)
}

/** Shows as much of a list as is wanted, and says when that was not all of it. */
export async function showList<Item>(
  output: Output,
  items: AsyncIterable<Item>,
  options: ListingOptions,
  view: ListView<Item>,
): Promise<void> {
  let hasMore = false
  async function* cut() {
    let left = options.all ? Number.POSITIVE_INFINITY : options.limit
    for await (const item of items) {
      if (left-- > 0) yield item
      else {
        hasMore = true
        return
      }
    }
  }
  await output.list(cut(), view)
  if (hasMore) output.note(`There are more than ${options.limit}: --all shows all of them`)
}

/** A whole number of at least one. */
function toCount(text: string): number {
  const count = Number(text)
  if (/^\d{1,9}$/.test(text) && count >= 1) return count
  throw new InvalidArgumentError("It must be a whole number of at least 1.")
}
