import { isCredentialHeader } from "@hamlet/contract/credential-headers"
import { type Command, InvalidArgumentError } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { waitForRun } from "../../runs/wait-for-run.ts"
import { readInput } from "../../terminal/read-input.ts"

interface ReplayOptions {
  readonly run: string
  readonly method?: string
  readonly path?: string
  readonly header?: readonly (readonly [name: string, value: string])[]
  readonly body?: string
  readonly args?: unknown[]
  readonly version?: number
}

export const command = defineCommand<ReplayOptions>({
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
  configure: (command: Command) =>
    command
      .argument("<run>", "id of the run")
      .option("--method <method>", "method of the request")
      .option("--path <path>", "path and query of the request")
      .option("--header <name: value>", "a header of the request", toHeader)
      .option("--body <text>", "body of the request; - reads standard input")
      .option("--args <json>", "arguments of the call: a JSON array", toArgs)
      .option("--version <number>", "version to run", toVersion),
  run: replayRun,
})

async function replayRun(context: Context, options: ReplayOptions): Promise<ExitName> {
  const connection = await context.connect()
  const { run, method, path, header, args, version } = options
  const body = options.body === "-" ? await readInput() : options.body
  const changes = {
    ...(method !== undefined && { method }),
    ...(path !== undefined && { path }),
    ...(header && { headers: header.map(([name, value]): [string, string] => [name, value]) }),
    ...(body !== undefined && { body }),
    ...(args && { args }),
    ...(version !== undefined && { version }),
  }
  // Credentials are not stored, so a run that waits cannot have them.
  const respondAsync = !header?.some(([name]) => isCredentialHeader(name))
  return waitForRun(context, connection, () =>
    connection.client.replayRun({ run_id: run, ...changes }, { respondAsync }),
  )
}

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

function toVersion(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError("It must be the number of a version.")
}
