import type { Argument, Command, Option } from "commander"

/**
 * What stands for something that only the server or a file knows; the shell asks for it when it is
 * wanted.
 */
export type ValueKind = "val" | "server" | "secret" | "user" | "file" | "folder" | "none"

/** Values that can follow: a closed list, or a kind. */
export interface Values {
  readonly choices: readonly string[]
  readonly kind: ValueKind
}

/** An option as a shell completes it. */
export interface DescribedOption {
  /** `--limit` and `-n`. */
  readonly flags: readonly string[]
  readonly description: string
  /** What it takes, if it takes something. */
  readonly values: Values | undefined
}

/** A command as a shell completes it. */
export interface DescribedCommand {
  /** The words that lead to it, without the program's name. */
  readonly path: readonly string[]
  readonly summary: string
  readonly options: readonly DescribedOption[]
  /**
   * The values of its arguments in order; the last of a variadic command goes for all that follow.
   */
  readonly arguments: readonly Values[]
  /** What can follow it. */
  readonly commands: readonly { readonly name: string; readonly summary: string }[]
}

/** Every command of a program that has read all of them, each before those within it. */
export function describeCommands(program: Command): readonly DescribedCommand[] {
  return describe(program, [])
}

function describe(command: Command, path: readonly string[]): readonly DescribedCommand[] {
  const help = command.createHelp()
  const described = {
    path,
    summary: command.summary(),
    options: help.visibleOptions(command).map(toOption),
    arguments: command.registeredArguments.map(toArgumentValues),
    commands: help
      .visibleCommands(command)
      .map((sub) => ({ name: sub.name(), summary: sub.summary() || sub.description() })),
  }
  const inner = help.visibleCommands(command).filter((sub) => sub.name() !== "help")
  return [described, ...inner.flatMap((sub) => describe(sub, [...path, sub.name()]))]
}

function toOption(option: Option): DescribedOption {
  return {
    flags: [option.long, option.short].filter((flag) => flag !== undefined),
    description: option.description,
    values:
      option.required || option.optional
        ? toValues(option.argChoices, /<(\w+)/.exec(option.flags)?.[1] ?? "")
        : undefined,
  }
}

function toArgumentValues(argument: Argument): Values {
  return toValues(argument.argChoices, argument.name())
}

/** What an argument is called says what it is. */
function toValues(choices: readonly string[] | undefined, name: string): Values {
  return { choices: choices ?? [], kind: choices ? "none" : (kinds[name] ?? "none") }
}

const kinds: Readonly<Record<string, ValueKind>> = {
  val: "val",
  vals: "val",
  server: "server",
  secret: "secret",
  user: "user",
  file: "file",
  files: "file",
  folder: "folder",
}
