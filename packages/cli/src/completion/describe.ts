import type { Argument, Command, Option } from "commander"

/**
 * A kind of value that only the server or the file system knows; the completion script asks for it.
 */
export type ValueKind = "val" | "server" | "secret" | "user" | "file" | "folder" | "none"

/** The values of an argument: a closed list, or a kind. */
export interface Values {
  readonly choices: readonly string[]
  readonly kind: ValueKind
}

/** An option as a shell completes it. */
export interface DescribedOption {
  /** `--limit` and `-n`. */
  readonly flags: readonly string[]
  readonly description: string
  /** Its values, if it takes any. */
  readonly values: Values | undefined
}

/** A command as a shell completes it. */
export interface DescribedCommand {
  /** The words that name it, without the program. */
  readonly path: readonly string[]
  readonly summary: string
  readonly options: readonly DescribedOption[]
  /**
   * The values of its arguments in order; those of a variadic argument apply to all further words.
   */
  readonly arguments: readonly Values[]
  /** Its subcommands. */
  readonly commands: readonly { readonly name: string; readonly summary: string }[]
}

/** Describes all commands of a fully loaded program, parents first. */
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

/** The name of an argument determines its kind. */
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
