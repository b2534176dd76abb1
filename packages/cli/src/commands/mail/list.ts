import { type Command, Option } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toAgo } from "../../terminal/ago.ts"

interface ListOptions extends ListingOptions {
  readonly status?: (typeof statuses)[number]
}

const statuses = ["waiting", "sent", "failed"] as const

export const command = defineCommand<ListOptions>({
  description: "Lists the emails that your vals have sent, newest first.",
  examples: [
    ["hamlet mail list", "outgoing emails of your account"],
    ["hamlet mail list --status failed", "those that could not be sent"],
  ],
  configure: (command: Command) =>
    addListOptions(
      command.addOption(
        new Option("--status <status>", "only emails with this status").choices(statuses),
      ),
    ),
  run: listEmails,
})

async function listEmails({ connect, output }: Context, options: ListOptions): Promise<void> {
  const { client } = await connect()
  const now = Date.now()
  const query = {
    limit: toPageLimit(options),
    ...(options.status && { status: options.status }),
  }
  await showList(output, client.items("listMyEmails", query), options, {
    empty: "No emails",
    columns: [
      { title: "email", value: ({ id }) => id, isWhole: true },
      { title: "status", value: ({ status }) => status },
      { title: "to", value: ({ to }) => to.join(", ") },
      { title: "subject", value: ({ subject }) => subject, paint: (colour) => colour.bold },
      {
        title: "created",
        value: ({ createdAt }) => createdAt,
        human: ({ createdAt }) => toAgo(createdAt, now),
      },
      { title: "error", value: ({ error }) => error },
    ],
  })
}
