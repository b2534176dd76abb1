import type { Input } from "@hamlet/contract/client"
import { type Command, Option } from "commander"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { auditActions } from "../contract-copies.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../output/listing.ts"
import { toMoment } from "../runs/since.ts"
import { toAgo } from "../terminal/ago.ts"

interface AuditOptions extends ListingOptions {
  readonly action?: Input<"listAuditEntries">["action"]
  readonly since?: Date
  readonly until?: Date
}

export const command = defineCommand<AuditOptions>({
  description: "Newest entries first.",
  examples: [
    ["hamlet audit", "the latest entries"],
    ["hamlet audit --action user.suspend --since 30d --all", "suspensions of the last 30 days"],
  ],
  configure: (command: Command) =>
    addListOptions(command)
      .addOption(new Option("--action <action>", "only this action").choices(auditActions))
      .option("--since <time>", "only after this time: 2h, 3d or a date", toMoment)
      .option("--until <time>", "only before this time", toMoment),
  run: showAudit,
})

async function showAudit({ connect, output }: Context, options: AuditOptions): Promise<void> {
  const { client } = await connect()
  const now = Date.now()
  const { action, since, until } = options
  const filter = { ...(action && { action }), ...(since && { since }), ...(until && { until }) }
  await showList(
    output,
    client.items("listAuditEntries", { ...filter, limit: toPageLimit(options) }),
    options,
    {
      empty: "No entries",
      columns: [
        { title: "when", value: ({ at }) => at, human: ({ at }) => toAgo(at, now) },
        { title: "who", value: ({ actor }) => actor.username, paint: (colour) => colour.bold },
        { title: "what", value: ({ action }) => action },
        { title: "whom", value: ({ subject }) => subject.name ?? subject.id },
        {
          title: "details",
          value: ({ details }) =>
            Object.keys(details).length === 0 ? null : JSON.stringify(details),
        },
      ],
    },
  )
}
