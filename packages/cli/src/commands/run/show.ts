import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { RecordField } from "../../output/output.ts"
import { noteGap, writeLog } from "../../runs/log-lines.ts"
import { type RunDetail, toDuration, toRunVal } from "../../runs/runs.ts"
import { toAgo } from "../../terminal/ago.ts"

interface ShowOptions {
  readonly run: string
}

export const command = defineCommand<ShowOptions>({
  description: "On a terminal, also prints the logs.",
  examples: [
    [
      "hamlet run show 0190a6b1-7e3c-7c4d-8f5e-0123456789ab",
      "show its arguments, status and return value",
    ],
    [
      "hamlet run show $(hamlet run list -n 1 | cut -f 1) --json",
      "everything about the latest run",
    ],
  ],
  configure: (command: Command) => command.argument("<run>", "id of the run"),
  run: showRun,
})

async function showRun({ connect, output }: Context, { run: id }: ShowOptions): Promise<void> {
  const { client } = await connect()
  const run = await client.getRun({ run_id: id })
  output.record(run, toFields(run))
  if (output.mode !== "human" || run.logs.length === 0) return
  output.text("\n")
  noteGap(output, run.logs.length, run.logsOmitted)
  for (const line of run.logs) writeLog(output, line)
  if (run.logsTruncated && run.logsOmitted === null) output.note("The logs were truncated")
}

function toFields(run: RunDetail): readonly RecordField[] {
  const { request, error, egress } = run
  return [
    ["run", run.id],
    ["val", toRunVal(run)],
    ["status", run.status],
    ["source", run.source],
    ["started", run.runStartAt, toAgo(run.runStartAt, Date.now())],
    ["took", run.durationMs, toDuration(run.durationMs)],
    ["request", request && `${request.method} ${request.url} ${request.status ?? ""}`],
    ["args", JSON.stringify(run.args) ?? null],
    ["value", JSON.stringify(run.returnValue) ?? null],
    ["error", error && `${error.name}: ${error.message}`],
    [
      "sent",
      egress &&
        `${egress.requests} requests, ${egress.blocked} blocked, ${egress.bytesSent} bytes out, ${egress.bytesReceived} bytes in`,
    ],
    [
      "mails",
      run.emails.map(({ status, to }) => `${status} to ${to.join(", ")}`).join("; ") || null,
    ],
    ["repeats", run.parentId],
  ]
}
