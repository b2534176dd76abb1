import { findTarget, ownVal } from "../../checkout/find-target.ts"
import { defineCommand, wholeNumber } from "../../command.ts"
import { findVal } from "../../names/find-val.ts"
import { toArguments } from "../../runs/arguments.ts"
import { startRun, waitForRun } from "../../runs/wait-for-run.ts"
import { readInput } from "../../terminal/read-input.ts"

/** The limit of the API. */
const retriesMax = 10

export const command = defineCommand({
  description: `Arguments are parsed as JSON where possible and otherwise taken as text; key=value pairs form one object;
"-" stands for standard input. Logs go to standard error while the val runs, its return value goes to
standard output, and the exit code tells how the run ended. Ctrl-C cancels the run. To run a val that is
named like a verb, write "hamlet run ada/list"; put arguments that start with a dash after "--". In the folder of one
val, "." is that val, as it is saved, on the branch of the folder; without arguments it can be left out.`,
  examples: [
    ["hamlet run add 1 2", "call a val with two numbers"],
    ["hamlet run ada/greet name=Grace loud=true", 'pass {"name":"Grace","loud":true}'],
    ["hamlet run count - < words.txt", "pass the content of a file"],
    ["hamlet run blog --file jobs/clean.ts", "run one of several files"],
    ["hamlet run --file jobs/clean.ts", "the same, in the folder of the val"],
    [
      "hamlet run hello@3 --json | jq .durationMs",
      "run an old version, and print details of the run",
    ],
  ],
  takes: {
    "<val>": ownVal,
    "[args...]": "arguments for the val",
    "-d, --detach": "print the id of the run instead of waiting for it",
    "--file <path>": "run this file of the val instead of its entry file",
    "--branch <branch>": "branch of the val (default: main, or that of the folder)",
    "--retries <count>": {
      help: "attempts that follow a failed one, at most 10",
      parse: wholeNumber(0, retriesMax),
    },
  },
  async run(context, { val: text, args: words, detach, retries, file, branch }) {
    const connection = await context.connect()
    const args = await toArguments(words, readInput)
    const { val, version, branchName } =
      text === "."
        ? { ...(await findTarget(connection, text)), version: undefined }
        : { ...(await findVal(connection, text)), branchName: undefined }
    const input = { val_id: val.id, args, version, retries, file, branch: branch ?? branchName }
    const start = () => connection.client.createRun(input, { respondAsync: true })
    return detach ? startRun(context, start) : waitForRun(context, connection, start)
  },
})
