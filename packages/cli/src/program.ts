import { Command, type CommanderError, Option } from "commander"
import manifest from "../package.json" with { type: "json" }
import { CliError } from "./cli-error.ts"
import type { CommandDefinition } from "./command.ts"
import type { CommonOptions } from "./context.ts"
import type { Streams } from "./streams.ts"
import { type Group, isGroup, type Leaf, tree } from "./tree.ts"

/** Does what a command says. `options` are its own, by name. */
export type RunCommand = (
  definition: CommandDefinition,
  common: CommonOptions,
  options: Readonly<Record<string, unknown>>,
) => Promise<void>

/** Which commands are read: those that the words on the command line name, or all of them. */
export type Wanted = readonly string[] | "all"

/** What a program is made for. */
export interface ProgramOptions {
  readonly wanted: Wanted
  readonly runCommand: RunCommand
  /** Where help goes. */
  readonly streams: Pick<Streams, "writeOut" | "writeError">
  readonly hasColour: boolean
}

/**
 * The parser. It knows the command that is wanted and nothing else, so that it is made as fast as
 * that is run. Where none is, because somebody wants help or has mistyped something, it has the
 * names and summaries of all that could be meant.
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
    // Failures are thrown, so that one place tells of them all.
    outputError: () => {},
  })
  prepare(program)
  program
    .description("Everything that a Hamlet server can do, from a terminal.")
    .version(manifest.version, "-V, --version")
  program.enablePositionalOptions().helpCommand("help [command]", "say more about a command")
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

/** The one that the first word names, or all of them. */
function select<Node>(
  nodes: Readonly<Record<string, Node>>,
  words: Wanted,
): readonly (readonly [name: string, node: Node])[] {
  const [name] = words === "all" ? [] : words
  const node = name !== undefined && Object.hasOwn(nodes, name) ? nodes[name] : undefined
  return name !== undefined && node !== undefined ? [[name, node]] : Object.entries(nodes)
}

const commonGroup = "Common options:"
const footer = `Vals are named as "hello", "ada/hello", "ada/hello@3" or by any of their addresses.
Exit codes and everything else: docs/cli.md.`

async function addGroup(
  program: Command,
  noun: string,
  group: Group,
  words: Wanted | undefined,
  runCommand: RunCommand,
): Promise<void> {
  const { summary, verbs, defaultVerb } = group
  const parent = prepare(program.command(noun)).summary(summary).description(`${summary}.`)
  if (!words) return
  const verb = words === "all" ? undefined : words[0]
  for (const [name, leaf] of select(verbs, words))
    await addLeaf(parent, name, leaf, words === "all" || verb === name, runCommand)
  const isVerb = verb !== undefined && Object.hasOwn(verbs, verb)
  if (defaultVerb && !isVerb)
    await applyDefinition(parent.usage("[options] <val> [args...]"), defaultVerb, runCommand)
  else addCommonOptions(parent)
}

async function addLeaf(
  parent: Command,
  name: string,
  leaf: Leaf,
  isWanted: boolean,
  runCommand: RunCommand,
): Promise<void> {
  const command = prepare(parent.command(name, { hidden: leaf.isHidden ?? false })).summary(
    leaf.summary,
  )
  if (isWanted) await applyDefinition(command, leaf, runCommand)
}

/** Gives a command what its definition says. */
async function applyDefinition(
  command: Command,
  leaf: Leaf,
  runCommand: RunCommand,
): Promise<void> {
  const { command: definition } = await leaf.load()
  // The terminal decides where lines end, not the file in which they stand.
  const description = definition.description?.replaceAll(/\s*\n\s*/g, " ")
  command.description([`${leaf.summary}.`, description].filter(Boolean).join("\n\n"))
  definition.configure?.(command)
  if (!definition.isPassThrough) addCommonOptions(command)
  command.addHelpText("after", toExamples(definition))
  command.action(() => runCommand(definition, toCommon(command), toOptions(command)))
}

/** What holds for each command. */
function prepare(command: Command): Command {
  return command
    .exitOverride((error) => {
      throw toUsageError(error, command)
    })
    .configureHelp({
      styleTitle: (text) => `\x1b[1m${text}\x1b[22m`,
      subcommandTerm: (sub) => sub.name(),
    })
    .addHelpOption(new Option("-h, --help", "say what it does").helpGroup(commonGroup))
}

/**
 * The parser's words without its prefix; what it suggests follows on a line of its own. Help that
 * was asked for is no failure.
 */
function toUsageError(error: CommanderError, command: Command): Error {
  if (error.exitCode === 0 || error.code === "commander.help") return error
  const problem = error.message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ")
  const names = toAncestry(command).map((one) => one.name())
  return new CliError("usage", `Cannot understand the command line: ${problem}`, {
    advice: `"${[...names.reverse(), "--help"].join(" ")}" says what there is`,
  })
}

/** The command and those that it is in. */
function toAncestry(command: Command): readonly Command[] {
  return command.parent ? [command, ...toAncestry(command.parent)] : [command]
}

/** Each command has them itself, so that they can stand anywhere. */
function addCommonOptions(command: Command): void {
  command
    .optionsGroup(commonGroup)
    .option("--json", "print JSON, for a list one object on each line")
    .option("--server <server>", 'ask the server of that name, see "hamlet server list"')
    .option("--no-color", "no colour, as with NO_COLOR in the environment")
}

function toCommon(command: Command): CommonOptions {
  const values = toAncestry(command).map((one) =>
    one.opts<{ json?: true; server?: string; color: boolean }>(),
  )
  return {
    json: values.some(({ json }) => json === true),
    isColourAllowed: values.every(({ color }) => color !== false),
    server: values.find(({ server }) => server !== undefined)?.server,
  }
}

/** Arguments and options in one struct. */
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

/**
 * The words on a command line that can name a command: neither options nor the value of one that
 * stands before them.
 */
function toWords(args: readonly string[]): readonly string[] {
  const words = args.filter((arg, index) => !arg.startsWith("-") && args[index - 1] !== "--server")
  // `hamlet help val` and `hamlet val help list` are about what follows.
  return words.filter((word, index) => word !== "help" || index > 1)
}
