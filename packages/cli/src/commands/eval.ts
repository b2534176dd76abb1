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
  description: `Runs code once on the server, like a private val that is not saved: it has your secrets and can import
what vals import. An expression returns its value. Arguments are as for "hamlet run". Logs are stored with
the run, which "hamlet run list" shows as "eval".`,
  examples: [
    ["hamlet eval '6 * 7'", "an expression"],
    ["hamlet eval 'export default (a, b) => a + b' 1 2", "a function with two arguments"],
    ["hamlet eval -f job.ts day=monday", "code from a file"],
  ],
  configure: (command: Command) =>
    command
      .argument("[code]", "the code, or with --file the first argument")
      .argument("[args...]", "arguments for the code")
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
      "Cannot run code: pass it as an argument, or name a file with --file",
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
