import { type Command, Option } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { runSources, runStatuses } from "../../contract-copies.ts"
import { findWholeVal } from "../../names/find-val.ts"
import type { ListView } from "../../output/list.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { paintStatus, type Run, toDuration, toRunVal } from "../../runs/runs.ts"
import { toMoment } from "../../runs/since.ts"
import { toAgo } from "../../terminal/ago.ts"

interface ListOptions extends ListingOptions {
  readonly val: string | undefined
  readonly failed?: true
  readonly succeeded?: true
  readonly status?: readonly Run["status"][]
  readonly source?: Run["source"]
  readonly text?: string
  readonly since?: Date
  readonly until?: Date
}

export const command = defineCommand<ListOptions>({
  description: "Newest runs first.",
  examples: [
    ["hamlet run list", "runs on your account"],
    ["hamlet run list hello --failed --since 2h", "failed runs of one val in the last two hours"],
    ["hamlet run list --status timed_out crashed", "runs that were stopped or crashed"],
    ["hamlet run list --all --json | jq -r .status | sort | uniq -c", "count runs by status"],
  ],
  configure: (command: Command) =>
    addListOptions(
      command
        .argument("[val]", "only runs of this val")
        .addOption(new Option("--failed", "only failed runs").conflicts("succeeded"))
        .option("--succeeded", "only successful runs")
        .addOption(
          new Option("--status <status...>", "only runs with this status").choices(runStatuses),
        )
        .addOption(
          new Option("--source <source>", "only runs from this source").choices(runSources),
        )
        .option("--text <text>", "only runs with this in their address, error or last log line")
        .option("--since <time>", "only after this time: 15m, 2h, 3d or a date", toMoment)
        .option("--until <time>", "only before this time", toMoment),
    ),
  run: listRuns,
})

async function listRuns({ connect, output }: Context, options: ListOptions): Promise<void> {
  const connection = await connect()
  const { client } = connection
  const query = {
    limit: toPageLimit(options),
    ...((options.failed || options.succeeded) && { error: options.failed === true }),
    ...(options.status && { status: [...options.status] }),
    ...(options.source && { source: options.source }),
    ...(options.text && { text: options.text }),
    ...(options.since && { since: options.since }),
    ...(options.until && { until: options.until }),
  }
  const runs =
    options.val === undefined
      ? client.items("listMyRuns", query)
      : client.items("listValRuns", {
          val_id: (await findWholeVal(connection, options.val)).id,
          ...query,
        })
  await showList(output, runs, options, toRunListView())
}

function toRunListView(): ListView<Run> {
  const now = Date.now()
  return {
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
      {
        title: "started",
        value: ({ runStartAt }) => runStartAt,
        human: ({ runStartAt }) => toAgo(runStartAt, now),
      },
      { title: "error", value: ({ error }) => (error ? `${error.name}: ${error.message}` : null) },
    ],
  }
}
