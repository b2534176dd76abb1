import type { Command } from "commander"
import type { Context } from "./context.ts"
import type { ExitName } from "./exit-codes.ts"

/** An example command line and what it does. */
export type Example = readonly [line: string, meaning: string]

/** A command: its arguments and what it does. Its name and summary are in the tree. */
export interface CommandDefinition {
  /** What to know beyond the summary. */
  readonly description?: string
  readonly examples: readonly Example[]
  /**
   * Declares arguments and options. An argument called `val`, `server` or `secret` is completed
   * with existing names.
   */
  readonly configure?: (command: Command) => unknown
  /** Passes all that follows it to another program, so it has no common options. */
  readonly isPassThrough?: true
  /** Receives arguments and options as one object, keyed in camelCase. */
  readonly run: (context: Context, options: never) => Promise<ExitName | undefined>
}

type Run<Options> = (
  context: Context,
  options: Options,
) => Promise<ExitName | undefined> | Promise<void>

/** Defines a command; `run` receives the options that `configure` declares. */
export function defineCommand<Options>(
  definition: Omit<CommandDefinition, "run"> & { readonly run: Run<Options> },
): CommandDefinition {
  const { run, ...rest } = definition
  return {
    ...rest,
    run: async (context, options: Options) => (await run(context, options)) ?? undefined,
  } as CommandDefinition
}
