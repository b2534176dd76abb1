import type { ExitName } from "../exit-codes.ts"
import { toFailure } from "../failure.ts"
import type { Output } from "./output.ts"

/**
 * Applies `work` to each item and continues after failures. The first failure sets the exit code.
 */
export async function forEachOne<Item>(
  output: Output,
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<void> | void,
): Promise<ExitName | undefined> {
  let exit: ExitName | undefined
  for await (const item of items) {
    try {
      await work(item)
    } catch (error) {
      const failure = toFailure(error)
      // The next item would fail too.
      if (!failure || failure.exit === "unavailable" || failure.exit === "interrupted") throw error
      output.errorText(`${failure.text}\n`)
      exit ??= failure.exit
    }
  }
  return exit
}
