import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { type LogGap, noteGap, writeLog } from "../../runs/log-lines.ts"

interface LogsOptions {
  readonly run: string
  readonly follow?: true
}

export const command = defineCommand<LogsOptions>({
  examples: [
    ["hamlet run logs 0190a6b1-7e3c-7c4d-8f5e-0123456789ab", "print the logs so far"],
    [
      "hamlet run logs -f 0190a6b1-7e3c-7c4d-8f5e-0123456789ab",
      "follow the logs until the run ends",
    ],
  ],
  configure: (command: Command) =>
    command
      .argument("<run>", "id of the run")
      .option("-f, --follow", "follow the logs until the run ends"),
  run: showLogs,
})

async function showLogs({ connect, output }: Context, { run, follow }: LogsOptions): Promise<void> {
  const { client } = await connect()
  let isTruncated = false
  let omitted: LogGap | null = null
  if (follow) {
    for await (const event of client.follow({ run_id: run })) {
      if (event.kind === "log") writeLog(output, event.line)
      else isTruncated = event.logsTruncated
    }
  } else {
    const { data, logsTruncated, logsOmitted } = await client.getRunLogs({ run_id: run })
    noteGap(output, data.length, logsOmitted)
    for (const line of data) writeLog(output, line)
    isTruncated = logsTruncated
    omitted = logsOmitted
  }
  if (isTruncated && omitted === null) output.note("The logs were truncated")
}
