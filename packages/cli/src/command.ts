import { Argument, type Command, InvalidArgumentError, Option } from "commander"
import type { Context } from "./context.ts"
import type { ExitName } from "./exit-codes.ts"

/** An example command line and what it does. */
export type Example = readonly [line: string, meaning: string]

/** How a value on the command line is read. Without it, it is text. */
interface Reading {
  readonly help: string
  readonly choices?: readonly string[]
  /** Receives what the same option has given before. */
  readonly parse?: (text: string, before: never) => unknown
  readonly default?: string | number | boolean
  readonly isMandatory?: true
  /** The option that it excludes. */
  readonly conflicts?: string
  /** A val that can be left out in the folder of one. */
  readonly isOwnVal?: true
}

/**
 * Arguments and options with their help texts, in the order of the help: `"<val>"`, `"[vals...]"`,
 * `"-a, --all"`, `"--since <time>"`. An argument called `val`, `server` or `secret` is completed
 * with existing names.
 */
export type Takes = Readonly<Record<string, string | Reading>>

/** Arguments and options as one object, keyed in camelCase. */
export type Options<Taken extends Takes> = {
  readonly [Flags in keyof Taken & string as Name<Flags>]: Value<Flags, Taken[Flags]>
}

type Name<Flags> = Flags extends `${string}--${infer Long} ${string}`
  ? Camel<Long>
  : Flags extends `${string}--${infer Long}`
    ? Camel<Long>
    : Flags extends `${"<" | "["}${infer Name}...${string}`
      ? Camel<Name>
      : Flags extends `${"<" | "["}${infer Name}${">" | "]"}`
        ? Camel<Name>
        : never

type Camel<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text

type Value<Flags, Spec> = Flags extends `${string}...${string}`
  ? readonly Single<Flags, Spec>[] | (Flags extends `-${string}` ? Absent<Flags, Spec> : never)
  : Single<Flags, Spec> | Absent<Flags, Spec>

type Single<Flags, Spec> = Spec extends { readonly parse: (...args: never) => infer Parsed }
  ? Parsed
  : Spec extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : Flags extends `${string}${"<" | "["}${string}`
      ? string
      : true

/** A variadic argument is an empty list when it is absent. */
type Absent<Flags, Spec> = Flags extends `<${string}`
  ? never
  : Spec extends { readonly isMandatory: true } | { readonly default: string | number | boolean }
    ? never
    : undefined

/** What a command takes, and what its help says. */
export interface Declaration<Taken extends Takes> {
  /** In the list of the noun's verbs; in the tree where the command has a file of its own. */
  readonly summary?: string
  /** What to know beyond the summary. */
  readonly description?: string
  readonly examples: readonly Example[]
  readonly takes?: Taken
  /** Passes options that it does not know to another program. */
  readonly allowsUnknownOptions?: true
  /** Passes all that follows it to another program, so it has no common options. */
  readonly isPassThrough?: true
}

/** A command. */
export interface CommandDefinition extends Declaration<Takes> {
  readonly run: (context: Context, options: never) => Promise<ExitName | undefined>
}

/**
 * A command in a file of its own. Only the one that runs is imported: loading all of them would
 * take longer than most of them run.
 */
export interface Leaf {
  readonly summary: string
  readonly load: () => Promise<{ readonly command: CommandDefinition }>
  /** Not shown in help. */
  readonly isHidden?: true
}

/** The verbs of a noun: simple ones are defined in place, others have a file of their own. */
export type Verbs = Readonly<Record<string, CommandDefinition | Leaf>>

/** Defines a command; `run` receives what it takes. */
export function defineCommand<const Taken extends Takes = Record<never, never>>(
  definition: Declaration<Taken> & {
    readonly run: (
      context: Context,
      options: Options<Taken>,
    ) => Promise<ExitName | undefined> | Promise<void>
  },
): CommandDefinition {
  const { run, ...rest } = definition
  return {
    ...rest,
    run: async (context, options: Options<Taken>) => (await run(context, options)) ?? undefined,
  } as CommandDefinition
}

/** Reads a whole number within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^\d{1,9}$/.test(text) && number >= min && number <= max) return number
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }
}

/** Tells the parser what a command takes. */
export function declare(command: Command, definition: CommandDefinition): void {
  for (const [flags, given] of Object.entries(definition.takes ?? {})) {
    const reading: Reading = typeof given === "string" ? { help: given } : given
    if (flags.startsWith("-")) command.addOption(toOption(flags, reading))
    else command.addArgument(applyReading(new Argument(flags, reading.help), reading))
  }
  if (definition.allowsUnknownOptions || definition.isPassThrough) command.allowUnknownOption()
  if (definition.isPassThrough) command.passThroughOptions()
}

/** Whether its val can be left out in the folder of one. */
export function takesOwnVal({ takes = {} }: Pick<CommandDefinition, "takes">): boolean {
  return Object.values(takes).some((given) => typeof given !== "string" && given.isOwnVal === true)
}

function toOption(flags: string, reading: Reading): Option {
  const option = applyReading(new Option(flags, reading.help), reading)
  if (reading.conflicts !== undefined) option.conflicts(reading.conflicts)
  return reading.isMandatory ? option.makeOptionMandatory() : option
}

function applyReading<Taken extends Argument | Option>(taken: Taken, reading: Reading): Taken {
  if (reading.choices) taken.choices(reading.choices)
  if (reading.parse) taken.argParser(reading.parse as (text: string) => unknown)
  if (reading.default !== undefined) taken.default(reading.default)
  return taken
}
