import type { Item } from "@hamlet/contract/client"
import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { toFullName } from "../../names/find-val.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toAgo } from "../../terminal/ago.ts"

type Notification = Item<"listNotifications">

interface ListOptions extends ListingOptions {
  readonly unread?: true
}

export const command = defineCommand<ListOptions>({
  description: "Newest first; the last 500 of 90 days.",
  examples: [
    ["hamlet notification list", "what happened to your vals"],
    ["hamlet notification list --unread --all", "all that you have not read"],
  ],
  configure: (command: Command) =>
    addListOptions(command).option("-u, --unread", "only unread notifications"),
  run: listNotifications,
})

async function listNotifications(
  { connect, output }: Context,
  options: ListOptions,
): Promise<void> {
  const { client } = await connect()
  const now = Date.now()
  const items = client.items("listNotifications", { limit: toPageLimit(options) })
  await showList(output, options.unread ? takeUnread(items) : items, options, {
    empty: options.unread ? "No unread notifications" : "No notifications",
    columns: [
      {
        title: "when",
        value: ({ createdAt }) => createdAt,
        human: ({ createdAt }) => toAgo(createdAt, now),
      },
      {
        title: "state",
        value: ({ readAt }) => (readAt === null ? "unread" : "read"),
        paint: (colour, { readAt }) => (readAt === null ? colour.yellow : colour.dim),
      },
      { title: "type", value: ({ type }) => type },
      { title: "val", value: ({ val }) => toFullName(val), paint: (colour) => colour.bold },
      { title: "by", value: toOther },
      { title: "comment", value: ({ comment }) => comment?.text ?? null },
      { title: "id", value: ({ id }) => id, isWhole: true },
    ],
  })
}

/** The val that imports or copies the val, or else the user. */
function toOther({ user, otherVal }: Notification): string | null {
  return otherVal ? toFullName(otherVal) : (user?.username ?? null)
}

async function* takeUnread(items: AsyncIterable<Notification>): AsyncIterable<Notification> {
  for await (const item of items) if (item.readAt === null) yield item
}
