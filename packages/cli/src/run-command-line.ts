import { CommanderError } from "commander"
import { createContext } from "./context.ts"
import type { ExitName } from "./exit-codes.ts"
import { toFailure } from "./failure.ts"
import type { Interruption } from "./interruption.ts"
import { createProgram, MissingValError, type RunCommand } from "./program.ts"
import type { Streams } from "./streams.ts"
import { hasColour } from "./terminal/colour.ts"
import { toVisible } from "./terminal/visible.ts"

/** Runs the command that the arguments name, and reports its failure. */
export async function runCommandLine(
  args: readonly string[],
  { streams, interruption }: { readonly streams: Streams; readonly interruption: Interruption },
): Promise<ExitName> {
  let exit: ExitName | undefined
  const describeProgram = () =>
    createProgram({ wanted: "all", runCommand: async () => {}, streams, hasColour: false })
  const runCommand: RunCommand = async (definition, common, options) => {
    exit = await definition.run(
      createContext(common, { interruption, streams, describeProgram }),
      options as never,
    )
  }
  const isAllowed = !args.includes("--no-color")
  try {
    const isHelpPainted = hasColour({
      isTerminal: process.stdout.isTTY === true,
      isAllowed,
      env: process.env,
    })
    const parse = async (words: readonly string[]) => {
      const options = { wanted: words, runCommand, streams, hasColour: isHelpPainted }
      const program = await createProgram(options)
      if (words.length === 0) program.outputHelp()
      else await program.parseAsync([...words], { from: "user" })
    }
    await parse(args).catch(async (error: unknown) => {
      if (!(error instanceof MissingValError) || !(await isInCheckout())) throw error
      await parse(error.withOwnVal(args))
    })
    return exit ?? "ok"
  } catch (error) {
    return report(error, streams)
  }
}

async function isInCheckout(): Promise<boolean> {
  // Imported late: few command lines need it.
  const { findCheckoutFolder } = await import("./checkout/checkout-state.ts")
  return findCheckoutFolder(".") !== undefined
}

function report(error: unknown, streams: Streams): ExitName {
  if (error instanceof CommanderError && error.exitCode === 0) return "ok"
  // The parser has printed its help already.
  if (error instanceof CommanderError && error.code === "commander.help") return "usage"
  const failure = toFailure(error)
  // A bug: crash with its stack.
  if (!failure) throw error
  const text = process.stderr.isTTY ? toVisible(failure.text) : failure.text
  if (text !== "") streams.writeError(`${text}\n`)
  return failure.exit
}
