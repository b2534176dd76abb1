import { Command, type CommanderError, Option } from "commander"
import manifest from "../package.json" with { type: "json" }
import { CliError } from "./cli-error.ts"
import { type CommandDefinition, declare, takesOwnVal, type Verbs } from "./command.ts"
import type { CommonOptions } from "./context.ts"
import type { Streams } from "./streams.ts"
import { type Group, isGroup, tree } from "./tree.ts"

/** Runs a command. `options` are its own, by name. */
export type RunCommand = (
  definition: CommandDefinition,
  common: CommonOptions,
  options: Readonly<Record<string, unknown>>,
) => Promise<void>

/** Which commands to load: those named on the command line, or all of them. */
export type Wanted = readonly string[] | "all"

/** How to create the parser. */
export interface ProgramOptions {
  readonly wanted: Wanted
  readonly runCommand: RunCommand
  /** Where help is printed. */
  readonly streams: Pick<Streams, "writeOut" | "writeError">
  readonly hasColour: boolean
}

/**
 * Creates the parser. It loads only the command that is wanted, to start fast. Where no command
 * matches, it has the names and summaries of all of them, for help and suggestions.
 */
export async function createProgram({
  wanted,
  runCommand,
  streams,
  hasColour,
}: ProgramOptions): Promise<Command> {
  const words = wanted === "all" ? wanted : toWords(wanted)
  const program = new Command("hamlet").configureOutput({
    writeOut: streams.writeOut,
    writeErr: streams.writeError,
    getOutHasColors: () => hasColour,
    getErrHasColors: () => hasColour,
    // Failures are thrown and reported in one place.
    outputError: () => {},
  })
  prepare(program)
  program
    .description("Work with a Hamlet server from the terminal.")
    .version(manifest.version, "-V, --version")
  program.enablePositionalOptions().helpCommand("help [command]", "show help for a command")
  program.usage("<command> [options]").addHelpText("after", `\n${footer}`)
  addCommonOptions(program)
  for (const [noun, node] of select(tree, words)) {
    const isWanted = words === "all" || words[0] === noun
    const rest = words === "all" ? words : isWanted ? words.slice(1) : undefined
    if (isGroup(node)) await addGroup(program, noun, node, rest, runCommand)
    else await addLeaf(program, noun, node, isWanted, runCommand)
  }
  return program
}

/** The node that the first word names, or all of them. */
function select<Node>(
  nodes: Readonly<Record<string, Node>>,
  words: Wanted,
): readonly (readonly [name: string, node: Node])[] {
  const [name] = words === "all" ? [] : words
  const node = name !== undefined && Object.hasOwn(nodes, name) ? nodes[name] : undefined
  return name !== undefined && node !== undefined ? [[name, node]] : Object.entries(nodes)
}

const commonGroup = "Common options:"
const footer = `Name a val as "hello", "ada/hello", "ada/hello@3" or by any of its URLs.
For exit codes and more, see docs/cli.md.`

async function addGroup(
  program: Command,
  noun: string,
  group: Group,
  words: Wanted | undefined,
  runCommand: RunCommand,
): Promise<void> {
  const { summary, loadVerbs, defaultVerb } = group
  const parent = prepare(program.command(noun)).summary(summary).description(`${summary}.`)
  if (!words) return
  const { verbs } = await loadVerbs()
  const verb = words === "all" ? undefined : words[0]
  for (const [name, leaf] of select(verbs, words))
    await addLeaf(parent, name, leaf, words === "all" || verb === name, runCommand)
  const isVerb = verb !== undefined && Object.hasOwn(verbs, verb)
  if (defaultVerb && !isVerb) await applyDefinition(parent, defaultVerb, runCommand)
  else addCommonOptions(parent)
}

async function addLeaf(
  parent: Command,
  name: string,
  leaf: Verbs[string],
  isWanted: boolean,
  runCommand: RunCommand,
): Promise<void> {
  const hidden = "isHidden" in leaf
  const command = prepare(parent.command(name, { hidden })).summary(leaf.summary ?? "")
  if (isWanted) await applyDefinition(command, leaf, runCommand)
}

/** Applies a definition to a command. */
async function applyDefinition(
  command: Command,
  leaf: Verbs[string],
  runCommand: RunCommand,
): Promise<void> {
  const definition = "load" in leaf ? (await leaf.load()).command : leaf
  // Descriptions are wrapped to the terminal, not where the source file wraps them.
  const description = definition.description?.replaceAll(/\s*\n\s*/g, " ")
  command.description([`${leaf.summary}.`, description].filter(Boolean).join("\n\n"))
  declare(command, definition)
  if (takesOwnVal(definition)) allowOwnVal(command)
  if (!definition.isPassThrough) addCommonOptions(command)
  command.addHelpText("after", toExamples(definition))
  command.action(() => runCommand(definition, toCommon(command), toOptions(command)))
}

/** The val is missing. In the folder of one val, that one is meant: `.` in its place. */
export class MissingValError extends CliError {
  constructor(
    cause: CliError,
    readonly command: readonly string[],
  ) {
    super(cause.exit, cause.message, { advice: cause.advice, cause })
  }

  /** The words of the command line, with the val of the folder. */
  withOwnVal(args: readonly string[]): readonly string[] {
    let at = 0
    for (const word of this.command) at = args.indexOf(word, at) + 1
    return args.toSpliced(at, 0, ".")
  }
}

/** Says in the help that the val can be left out, and throws an error of its own if it is. */
function allowOwnVal(command: Command): void {
  const names = command.registeredArguments.map((argument, index) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`
    return argument.required && index > 0 ? `<${name}>` : `[${name}]`
  })
  command.usage(["[options]", ...names].join(" "))
  command.exitOverride((error) => {
    const failure = toUsageError(error, command)
    if (error.code !== "commander.missingArgument" || !(failure instanceof CliError)) throw failure
    const [, ...path] = toAncestry(command)
      .map((one) => one.name())
      .reverse()
    throw new MissingValError(failure, path)
  })
}

/** Settings that every command shares. */
function prepare(command: Command): Command {
  return command
    .exitOverride((error) => {
      throw toUsageError(error, command)
    })
    .configureHelp({
      styleTitle: (text) => `\x1b[1m${text}\x1b[22m`,
      subcommandTerm: (sub) => sub.name(),
    })
    .addHelpOption(new Option("-h, --help", "show help").helpGroup(commonGroup))
}

/**
 * The parser's message without its prefix; a suggestion follows on the same line. Requested help is
 * not a failure.
 */
function toUsageError(error: CommanderError, command: Command): Error {
  if (error.exitCode === 0 || error.code === "commander.help") return error
  const problem = error.message
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .replace(/\.$/, "")
  const names = toAncestry(command).map((one) => one.name())
  const [, word = ""] = /^unknown command '([a-z]+)'/.exec(problem) ?? []
  const known = names.length === 1 ? familiarWords[word] : undefined
  return new CliError("usage", `Cannot parse the command line: ${problem}`, {
    advice:
      known === undefined
        ? `"${[...names.reverse(), "--help"].join(" ")}" shows the usage`
        : `use "hamlet ${known}"`,
  })
}

/** Commands that people know from Git and from the client of Val Town, and what they are here. */
const familiarWords: Readonly<Record<string, string>> = {
  browse: "val open",
  checkout: "branch switch",
  clone: "val clone",
  create: "val push --create",
  delete: "val rm",
  diff: "val diff",
  fetch: "val status",
  list: "val list",
  log: "version list",
  merge: "branch merge",
  pull: "val pull",
  push: "val push",
  remix: "val fork",
  status: "val status",
  switch: "branch switch",
  tail: "logs -f",
  watch: "val watch",
}

/** The command and its parents. */
function toAncestry(command: Command): readonly Command[] {
  return command.parent ? [command, ...toAncestry(command.parent)] : [command]
}

/** Added to each command, so that they can appear anywhere on the command line. */
function addCommonOptions(command: Command): void {
  command
    .optionsGroup(commonGroup)
    .option("--json", "print JSON; lists have one object per line")
    .option("--server <server>", 'use this server (see "hamlet server list")')
    .option("--owner <org>", "act for this organisation, not for yourself")
    .option("--no-color", "disable colour, as NO_COLOR does")
}

function toCommon(command: Command): CommonOptions {
  const values = toAncestry(command).map((one) =>
    one.opts<{ json?: true; server?: string; owner?: string; color: boolean }>(),
  )
  return {
    json: values.some(({ json }) => json === true),
    isColourAllowed: values.every(({ color }) => color !== false),
    server: values.find(({ server }) => server !== undefined)?.server,
    owner: values.find(({ owner }) => owner !== undefined)?.owner,
  }
}

/** Arguments and options in one object. */
function toOptions(command: Command): Readonly<Record<string, unknown>> {
  const names = command.registeredArguments.map((argument) =>
    argument.name().replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
  )
  return {
    ...command.opts(),
    ...Object.fromEntries(names.map((name, index) => [name, command.processedArgs[index]])),
  }
}

function toExamples({ examples }: CommandDefinition): string {
  const width = Math.max(0, ...examples.map(([line]) => line.length))
  return [
    "",
    "Examples:",
    ...examples.map(([line, meaning]) => `  ${line.padEnd(width)}  ${meaning}`),
  ].join("\n")
}

/** The words that can name a command: neither options nor the values of common ones. */
function toWords(args: readonly string[]): readonly string[] {
  const isValue = (index: number) => /^--(?:server|owner)$/.test(args[index - 1] ?? "")
  const words = args.filter((arg, index) => !arg.startsWith("-") && !isValue(index))
  // `hamlet help val` and `hamlet val help list` are about the words after `help`.
  return words.filter((word, index) => word !== "help" || index > 1)
}
