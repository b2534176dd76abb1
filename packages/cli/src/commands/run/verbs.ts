import { runSources, runStatuses } from "@hamlet/contract/lists"
import { defineCommand, type Verbs } from "../../command.ts"
import { findWholeVal } from "../../names/find-val.ts"
import type { RecordField } from "../../output/output.ts"
import { type LogGap, noteGap, writeLog } from "../../runs/log-lines.ts"
import { paintStatus, type RunDetail, toDuration, toRunVal } from "../../runs/runs.ts"
import { toMoment } from "../../runs/since.ts"
import { defineCall, defineList, listOptions } from "../../shapes.ts"
import { toAgo } from "../../terminal/ago.ts"

const takesRun = { "<run>": "id of the run" } as const

export const verbs: Verbs = {
  list: defineList({
    summary: "List runs",
    description: "Newest runs first.",
    examples: [
      ["hamlet run list", "runs on your account"],
      ["hamlet run list hello --failed --since 2h", "failed runs of one val in the last two hours"],
      ["hamlet run list --status timed_out crashed", "runs that were stopped or crashed"],
      ["hamlet run list --all --json | jq -r .status | sort | uniq -c", "count runs by status"],
    ],
    takes: {
      "[val]": "only runs of this val",
      "--failed": { help: "only failed runs", conflicts: "succeeded" },
      "--succeeded": "only successful runs",
      "--status <status...>": { help: "only runs with this status", choices: runStatuses },
      "--source <source>": { help: "only runs from this source", choices: runSources },
      "--text <text>": "only runs with this in their address, error or last log line",
      "--since <time>": { help: "only after this time: 15m, 2h, 3d or a date", parse: toMoment },
      "--until <time>": { help: "only before this time", parse: toMoment },
      ...listOptions,
    },
    async items(session, { val, failed, succeeded, status, source, text, since, until }, page) {
      const query = {
        ...page,
        error: failed || succeeded ? failed === true : undefined,
        text: text || undefined,
        status,
        source,
        since,
        until,
      }
      if (val === undefined) return session.client.items("listMyRuns", query)
      const { id } = await findWholeVal(session, val)
      return session.client.items("listValRuns", { val_id: id, ...query })
    },
    empty: "No runs",
    columns: [
      { title: "run", value: ({ id }) => id, isWhole: true },
      { title: "val", value: toRunVal, paint: (colour) => colour.bold },
      {
        title: "status",
        value: ({ status }) => status,
        paint: (colour, { status }) => paintStatus(colour, status),
      },
      { title: "source", value: ({ source }) => source },
      {
        title: "took",
        value: ({ durationMs }) => durationMs,
        human: ({ durationMs }) => toDuration(durationMs),
      },
      { title: "started", value: ({ runStartAt }) => runStartAt, isTime: true },
      { title: "error", value: ({ error }) => (error ? `${error.name}: ${error.message}` : null) },
    ],
  }),
  show: defineCommand({
    summary: "Show a run",
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
    takes: takesRun,
    async run({ connect, output }, { run: id }) {
      const { client } = await connect()
      const run = await client.getRun({ run_id: id })
      output.record(run, toFields(run))
      if (output.mode !== "human" || run.logs.length === 0) return
      output.text("\n")
      noteGap(output, run.logs.length, run.logsOmitted)
      for (const line of run.logs) writeLog(output, line)
      if (run.logsTruncated && run.logsOmitted === null) output.note("The logs were truncated")
    },
  }),
  logs: defineCommand({
    summary: "Show the logs of a run",
    examples: [
      ["hamlet run logs 0190a6b1-7e3c-7c4d-8f5e-0123456789ab", "print the logs so far"],
      [
        "hamlet run logs -f 0190a6b1-7e3c-7c4d-8f5e-0123456789ab",
        "follow the logs until the run ends",
      ],
    ],
    takes: { ...takesRun, "-f, --follow": "follow the logs until the run ends" },
    async run({ connect, output }, { run, follow }) {
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
    },
  }),
  cancel: defineCall({
    summary: "Cancel a run",
    description:
      "Both the user who started a run and the owner of its val can cancel it. A run that has ended is left unchanged.",
    examples: [["hamlet run cancel 0190a6b1-7e3c-7c4d-8f5e-0123456789ab", "cancel a run"]],
    takes: takesRun,
    async call({ client }, { run: id }) {
      const { found } = await client.cancelRun({ run_id: id })
      const json = { id, found }
      return found
        ? { json, plain: "cancelled", human: `Cancelled ${id}` }
        : { json, plain: "ended before", human: `${id} has already ended` }
    },
  }),
  replay: {
    summary: "Run the same version again with the same input",
    load: () => import("./replay.ts"),
  },
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
