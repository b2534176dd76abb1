import type { ExitName } from "../exit-codes.ts"
import { toFailure } from "../failure.ts"
import type { Output } from "./output.ts"

/**
 * Does something to each of several things, and goes on with the others when one fails. The first
 * failure decides how the program ends.
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
      // Nothing will go better with the next one.
      if (!failure || failure.exit === "unavailable" || failure.exit === "interrupted") throw error
      output.errorText(`${failure.text}\n`)
      exit ??= failure.exit
    }
  }
  return exit
}
