import type { Command } from "commander"
import type { Context } from "./context.ts"
import type { ExitName } from "./exit-codes.ts"

/** A line that somebody could type, and what it does. */
export type Example = readonly [line: string, meaning: string]

/** A command: what it takes, and what it does. The tree has its name and its summary. */
export interface CommandDefinition {
  /** What there is to say beyond the summary. */
  readonly description?: string
  readonly examples: readonly Example[]
  /**
   * Declares arguments and options. An argument called `val`, `server` or `secret` is completed
   * with the names of those.
   */
  readonly configure?: (command: Command) => unknown
  /** Hands on what follows it as it is, so that it has none of the common options. */
  readonly isPassThrough?: true
  /** Arguments and options arrive as one struct, by their names in camelCase. */
  readonly run: (context: Context, options: never) => Promise<ExitName | undefined>
}

type Run<Options> = (
  context: Context,
  options: Options,
) => Promise<ExitName | undefined> | Promise<void>

/** Makes a command of its run function, whose options have the shape that `takes` declares. */
export function defineCommand<Options>(
  definition: Omit<CommandDefinition, "run"> & { readonly run: Run<Options> },
): CommandDefinition {
  const { run, ...rest } = definition
  return {
    ...rest,
    run: async (context, options: Options) => (await run(context, options)) ?? undefined,
  } as CommandDefinition
}
