import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import { toArguments } from "../runs/arguments.ts"
import { readInput, readNamedFile } from "../terminal/read-input.ts"

export const command = defineCommand({
  description: `Runs code once on the server, like a private val that is not saved: it has your secrets and can import
what vals import. An expression returns its value, a function is called. Arguments are as for "hamlet run". Logs are stored with
the run, which "hamlet run list" shows as "eval".`,
  examples: [
    ["hamlet eval '6 * 7'", "an expression"],
    ["hamlet eval '(a, b) => a + b' 1 2", "a function with two arguments"],
    ["hamlet eval -f job.ts day=monday", "code from a file"],
  ],
  takes: {
    "[code]": "the code, or with --file the first argument",
    "[args...]": "arguments for the code",
    "-f, --file <path>": "read the code from a file",
  },
  async run({ connect, output }, { code: first, args: rest, file }) {
    const words = file === undefined || first === undefined ? rest : [first, ...rest]
    const code = file === undefined ? first : (await readNamedFile(file)).toString()
    if (code === undefined)
      throw new CliError(
        "usage",
        "Cannot run code: pass it as an argument, or name a file with --file",
      )
    const { client } = await connect()
    const value = await client.evalCode({ code, args: [...(await toArguments(words, readInput))] })
    const text = value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)
    output.print({ json: value, plain: text, human: text })
  },
})
