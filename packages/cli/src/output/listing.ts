import { type Command, InvalidArgumentError } from "commander"
import { limits } from "../limits.ts"
import type { ListView } from "./list.ts"
import type { Output } from "./output.ts"

/** How many items of a list to show. */
export interface ListingOptions {
  readonly limit: number
  readonly all?: true
}

/** Adds the options of a list command. */
export function addListOptions(command: Command): Command {
  return command
    .option("-n, --limit <count>", "number of items to show", toCount, limits.listItemsDefault)
    .option("-a, --all", "show all items")
}

/** The page size: one more than is shown, to know whether there are more. */
export function toPageLimit({ limit, all }: ListingOptions): number {
  return all ? limits.pageItemsMax : Math.min(limit + 1, limits.pageItemsMax)
}

/** Prints as much of a list as requested, and notes when there is more. */
export async function showList<Item>(
  output: Output,
  items: AsyncIterable<Item>,
  options: ListingOptions,
  view: ListView<Item>,
): Promise<void> {
  let hasMore = false
  async function* takeLimit() {
    let left = options.all ? Number.POSITIVE_INFINITY : options.limit
    for await (const item of items) {
      if (left-- > 0) yield item
      else {
        hasMore = true
        return
      }
    }
  }
  await output.list(takeLimit(), view)
  if (hasMore) output.note(`Showing the first ${options.limit}; use --all to show all`)
}

/** Parses a positive integer. */
function toCount(text: string): number {
  const count = Number(text)
  if (/^\d{1,9}$/.test(text) && count >= 1) return count
  throw new InvalidArgumentError("It must be a whole number of at least 1.")
}
