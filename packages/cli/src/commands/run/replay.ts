import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { waitForRun } from "../../runs/wait-for-run.ts"

interface ReplayOptions {
  readonly run: string
}

export const command = defineCommand<ReplayOptions>({
  description: "Runs on your account. Logs, return value and exit code are those of the new run.",
  examples: [["hamlet run replay 0190a6b1-7e3c-7c4d-8f5e-0123456789ab", "run it again"]],
  configure: (command: Command) => command.argument("<run>", "id of the run"),
  run: replayRun,
})

async function replayRun(context: Context, { run: id }: ReplayOptions): Promise<ExitName> {
  const connection = await context.connect()
  return waitForRun(context, connection, () =>
    connection.client.replayRun({ run_id: id }, { respondAsync: true }),
  )
}
