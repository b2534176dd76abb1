import { CliError } from "./cli-error.ts"
import {
  type CommandDefinition,
  type Declaration,
  defineCommand,
  type Options,
  type Takes,
  wholeNumber,
} from "./command.ts"
import { limits } from "./limits.ts"
import type { ListView } from "./output/list.ts"
import type { Output, RecordField } from "./output/output.ts"
import type { Connection } from "./servers/connection.ts"
import { askYes, canAsk } from "./terminal/ask.ts"

/*
 * The shapes of commands that only call the server and print its response. A command with logic of
 * its own uses `defineCommand`, in a file of its own.
 */

/** The connection to the selected server, and the output. */
export interface Session extends Connection {
  readonly output: Output
}

/** What a call prints: one value, or the fields of a record. */
export type Result = {
  readonly json: unknown
  /** Shown to people only. */
  readonly note?: string | undefined
} & (
  | {
      /** The single value that a script needs. */
      readonly plain: string
      /** What people see; the single value, if this is absent. */
      readonly human?: string
    }
  | { readonly fields: readonly RecordField[] }
)

/** Defines a command that calls the server and prints the result. */
export function defineCall<const Taken extends Takes = Record<never, never>>({
  check,
  call,
  ...declaration
}: Declaration<Taken> & {
  /** Refuses options, before it connects. */
  readonly check?: (options: Options<Taken>) => void
  readonly call: (session: Session, options: Options<Taken>) => Promise<Result>
}): CommandDefinition {
  return defineCommand({
    // TypeScript cannot see that the rest is a declaration.
    ...(declaration as Declaration<Taken>),
    async run({ connect, output }, options: Options<Taken>) {
      check?.(options)
      printResult(output, await call({ ...(await connect()), output }, options))
    },
  })
}

/** Prints a result. */
export function printResult(output: Output, result: Result): void {
  if ("fields" in result) output.record(result.json, result.fields)
  else output.print({ human: result.plain, ...result })
  if (result.note !== undefined && output.mode === "human") output.note(result.note)
}

/** The options of a list. */
export const listOptions = {
  "-n, --limit <count>": {
    help: "number of items to show",
    parse: wholeNumber(1, limits.countMax),
    default: limits.listItemsDefault,
  },
  "-a, --all": "show all items",
} as const

type Listing<Taken extends Takes = typeof listOptions> = Options<Taken> &
  Options<typeof listOptions>

/** Defines a command that prints a list; it takes `listOptions` among others. */
export function defineList<const Taken extends Takes & typeof listOptions, Item>({
  items,
  empty,
  columns,
  ...declaration
}: Declaration<Taken> & {
  readonly items: (
    session: Session,
    options: Listing<Taken>,
    page: Page,
  ) => AsyncIterable<Item> | Promise<AsyncIterable<Item>>
} & ListView<Item>): CommandDefinition {
  return defineCommand({
    ...(declaration as Declaration<Taken>),
    async run({ connect, output }, options: Listing<Taken>) {
      const found = await items({ ...(await connect()), output }, options, toPage(options))
      await showList(output, found, options, { empty, columns })
    },
  })
}

interface Page {
  readonly limit: number
}

/** The size of a page: one more than is shown, to know whether there are more. */
export function toPage({ limit, all }: Listing): Page {
  return { limit: all ? limits.pageItemsMax : Math.min(limit + 1, limits.pageItemsMax) }
}

/** Prints as much of a list as requested, and notes when there is more. */
export async function showList<Item>(
  output: Output,
  items: AsyncIterable<Item>,
  { limit, all }: Listing,
  view: ListView<Item>,
): Promise<void> {
  let hasMore = false
  async function* take() {
    let left = all ? Number.POSITIVE_INFINITY : limit
    for await (const item of items) {
      hasMore = left-- <= 0
      if (hasMore) return
      yield item
    }
  }
  await output.list(take(), view)
  if (hasMore) output.note(`Showing the first ${limit}; use --all to show all`)
}

/** The option that skips the confirmation. */
export const confirmOption = { "-y, --yes": "skip the confirmation" } as const

/** Continues if the user confirms. Without a terminal, `--yes` is required. */
export async function confirm(
  question: string,
  { yes }: Options<typeof confirmOption>,
): Promise<void> {
  if (yes) return
  if (!canAsk())
    throw new CliError("usage", "Cannot ask for confirmation: there is no terminal", {
      advice: 'use "--yes" to skip it',
    })
  if (!(await askYes(question))) throw new CliError("failed", "Cancelled")
}
