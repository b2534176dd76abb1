import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { toFullName } from "../../names/find-val.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toState } from "../../schedules.ts"
import { toAgo } from "../../terminal/ago.ts"

export const command = defineCommand<ListingOptions>({
  description: "Newest schedules first.",
  examples: [["hamlet schedule list", "list your schedules with their last outcomes"]],
  configure: (command: Command) => addListOptions(command),
  run: listSchedules,
})

async function listSchedules({ connect, output }: Context, options: ListingOptions): Promise<void> {
  const { client } = await connect()
  const now = Date.now()
  const toRelative = (at: string | null | undefined) => (at ? toAgo(at, now) : "")
  const items = client.items("listMySchedules", { limit: toPageLimit(options) })
  await showList(output, items, options, {
    empty: 'No schedules; create one with "hamlet schedule set"',
    columns: [
      { title: "val", value: ({ val }) => toFullName(val), paint: (colour) => colour.bold },
      { title: "runs", value: ({ description }) => description },
      {
        title: "state",
        value: toState,
        paint: (colour, it) => (toState(it) === "active" ? colour.green : colour.yellow),
      },
      {
        title: "next",
        value: ({ nextAt }) => nextAt[0] ?? null,
        human: ({ nextAt }) => toRelative(nextAt[0]),
      },
      {
        title: "last run",
        value: ({ lastRunAt }) => lastRunAt,
        human: ({ lastRunAt }) => toRelative(lastRunAt),
      },
      { title: "status", value: ({ lastStatus }) => lastStatus },
    ],
  })
}
