import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { findVal } from "../../names/find-val.ts"
import { toArguments } from "../../runs/arguments.ts"
import { waitForRun } from "../../runs/wait-for-run.ts"
import { readInput } from "../../terminal/read-input.ts"

interface RunOptions {
  readonly val: string
  readonly args: readonly string[]
  readonly detach?: true
}

export const command = defineCommand<RunOptions>({
  description: `Arguments are JSON where they are JSON, else text; key=value pairs make one object together; "-" is what standard input has. What the val logs goes
to standard error while it runs, what it returns to standard output, and the exit code says how it ended. Ctrl-C cancels the run.
A val called like a verb is run as "hamlet run ada/list"; arguments that begin with a dash follow "--".`,
  examples: [
    ["hamlet run add 1 2", "call it with two numbers"],
    [
      "hamlet run ada/greet name=Grace loud=true",
      'with one argument, {"name":"Grace","loud":true}',
    ],
    ["hamlet run count - < words.txt", "with a text from a file"],
    ["hamlet run hello@3 --json | jq .durationMs", "an old version, and everything about the run"],
  ],
  configure: (command: Command) =>
    command
      .argument("<val>", "its name")
      .argument("[args...]", "what to call it with")
      .option("-d, --detach", "do not wait: print the id of the run"),
  run: runVal,
})

async function runVal(
  context: Context,
  { val: text, args: words, detach }: RunOptions,
): Promise<ExitName | undefined> {
  const connection = await context.connect()
  const args = await toArguments(words, readInput)
  const { val, version } = await findVal(connection, text)
  const input = { val_id: val.id, args, ...(version !== undefined && { version }) }
  const start = () => connection.client.createRun(input, { respondAsync: true })
  if (!detach) return waitForRun(context, connection, start)
  const run = await start()
  context.output.print({
    json: run,
    plain: run.id,
    human: `Started run ${run.id}; "hamlet run logs -f ${run.id}" follows it`,
  })
  return undefined
}
