import type { Item } from "@hamlet/contract/client"
import { CliError } from "../../cli-error.ts"
import { defineCommand, type Verbs } from "../../command.ts"
import { toFullName } from "../../names/find-val.ts"
import type { Column } from "../../output/list.ts"
import { defineCall, listOptions, showList, toPage } from "../../shapes.ts"

export const verbs: Verbs = {
  list: defineCommand({
    summary: "List your notifications",
    description: "Newest first; the last 500 of 90 days.",
    examples: [
      ["hamlet notification list", "what happened to your vals"],
      ["hamlet notification list --unread --all", "all that you have not read"],
    ],
    takes: { ...listOptions, "-u, --unread": "only unread notifications" },
    async run({ connect, output }, options) {
      const { client } = await connect()
      const items = client.items("listNotifications", toPage(options))
      await showList(output, options.unread ? takeUnread(items) : items, options, {
        empty: options.unread ? "No unread notifications" : "No notifications",
        columns,
      })
    },
  }),
  read: defineCall({
    summary: "Mark notifications as read",
    examples: [
      ["hamlet notification read 01890000-0000-7000-8000-000000000000", "mark one as read"],
      ["hamlet notification read --all", "mark all as read"],
    ],
    takes: {
      "[ids...]": 'ids of notifications (see "hamlet notification list")',
      "--all": "mark all as read",
    },
    check({ ids, all }) {
      if ((ids.length === 0) !== (all === true))
        throw new CliError("usage", "Cannot mark as read: pass either ids or --all", {
          advice: 'see "hamlet notification list"',
        })
    },
    async call({ client }, { ids, all }) {
      await client.readNotifications(all ? {} : { ids })
      const { unread } = await client.countNotifications()
      return {
        json: { unread },
        plain: String(unread),
        human: `Marked as read; ${unread} unread`,
      }
    },
  }),
}

type Notification = Item<"listNotifications">

const columns: readonly Column<Notification>[] = [
  { title: "when", value: ({ createdAt }) => createdAt, isTime: true },
  {
    title: "state",
    value: ({ readAt }) => (readAt === null ? "unread" : "read"),
    paint: (colour, { readAt }) => (readAt === null ? colour.yellow : colour.dim),
  },
  { title: "type", value: ({ type }) => type },
  { title: "val", value: ({ val }) => toFullName(val), paint: (colour) => colour.bold },
  {
    // The val that imports or copies the val, or else the user.
    title: "by",
    value: ({ user, otherVal }) => (otherVal ? toFullName(otherVal) : (user?.username ?? null)),
  },
  { title: "comment", value: ({ comment }) => comment?.text ?? null },
  { title: "id", value: ({ id }) => id, isWhole: true },
]

async function* takeUnread(items: AsyncIterable<Notification>): AsyncIterable<Notification> {
  for await (const item of items) if (item.readAt === null) yield item
}
