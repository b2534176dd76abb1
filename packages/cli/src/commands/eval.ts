import { readFile } from "node:fs/promises"
import type { Command } from "commander"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { toArguments } from "../runs/arguments.ts"
import { readInput } from "../terminal/read-input.ts"

interface EvalOptions {
  readonly code?: string
  readonly args: readonly string[]
  readonly file?: string
}

export const command = defineCommand<EvalOptions>({
  description: `Runs code once on the server, as a private val of yours that is not saved: it sees your secrets, and imports what vals import. An expression
gives its value. Arguments are what "hamlet run" takes. What the code logs is kept with its run, which "hamlet run list" has as "eval".`,
  examples: [
    ["hamlet eval '6 * 7'", "an expression"],
    ["hamlet eval 'export default (a, b) => a + b' 1 2", "a function, with two arguments"],
    ["hamlet eval -f job.ts day=monday", "code from a file"],
  ],
  configure: (command: Command) =>
    command
      .argument("[code]", "the code; with --file, the first argument")
      .argument("[args...]", "what to call it with")
      .option("-f, --file <path>", "read the code from a file"),
  run: evalCode,
})

async function evalCode(
  context: Context,
  { code: first, args: rest, file }: EvalOptions,
): Promise<void> {
  const words = file === undefined || first === undefined ? rest : [first, ...rest]
  const code = file === undefined ? first : await readCode(file)
  if (code === undefined)
    throw new CliError(
      "usage",
      "Cannot run code: there is none; give it as an argument, or a file with --file",
    )
  const { client } = await context.connect()
  const value = await client.evalCode({ code, args: [...(await toArguments(words, readInput))] })
  const text = value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)
  context.output.print({ json: value, plain: text, human: text })
}

async function readCode(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8")
  } catch (cause) {
    throw new CliError(
      "usage",
      `Cannot read "${path}": ${cause instanceof Error ? cause.message : cause}`,
    )
  }
}
