import { isCredentialHeader } from "@hamlet/contract/credential-headers"
import { InvalidArgumentError } from "commander"
import { defineCommand } from "../../command.ts"
import { toVersionNumber } from "../../names/version-number.ts"
import { waitForRun } from "../../runs/wait-for-run.ts"
import { readInput } from "../../terminal/read-input.ts"

export const command = defineCommand({
  description: `Runs on your account. Logs, return value and exit code are those of the new run. Without options it repeats
the run; the options change parts of its input. --header replaces all headers of a request, and may be given more than once.`,
  examples: [
    ["hamlet run replay 0190a6b1-7e3c-7c4d-8f5e-0123456789ab", "run it again"],
    [
      "hamlet run replay 0190a6b1-7e3c-7c4d-8f5e-0123456789ab --method POST --path /items --body '{}'",
      "send another request",
    ],
    [
      "hamlet run replay 0190a6b1-7e3c-7c4d-8f5e-0123456789ab --args '[1, 2]' --version 7",
      "call another version with other arguments",
    ],
  ],
  takes: {
    "<run>": "id of the run",
    "--method <method>": "method of the request",
    "--path <path>": "path and query of the request",
    "--header <name: value>": { help: "a header of the request", parse: toHeader },
    "--body <text>": "body of the request; - reads standard input",
    "--args <json>": { help: "arguments of the call: a JSON array", parse: toArgs },
    "--version <number>": { help: "version to run", parse: toVersionNumber },
  },
  async run(context, options) {
    const connection = await context.connect()
    const { run, method, path, header, args, version } = options
    const body = options.body === "-" ? await readInput() : options.body
    const headers = header?.map(([name, value]): [string, string] => [name, value])
    const changes = { method, path, headers, body, args, version }
    // Credentials are not stored, so a run that waits cannot have them.
    const respondAsync = !header?.some(([name]) => isCredentialHeader(name))
    return waitForRun(context, connection, () =>
      connection.client.replayRun({ run_id: run, ...changes }, { respondAsync }),
    )
  },
})

function toHeader(
  text: string,
  before: readonly (readonly [string, string])[] = [],
): readonly (readonly [string, string])[] {
  const colon = text.indexOf(":")
  if (colon < 1) throw new InvalidArgumentError("It must have the form name: value.")
  return [...before, [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]]
}

function toArgs(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return value
  } catch {
    // Reported below.
  }
  throw new InvalidArgumentError("It must be a JSON array.")
}
