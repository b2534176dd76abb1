import type { Item } from "@hamlet/contract/client"
import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toAgo } from "../../terminal/ago.ts"

export const command = defineCommand<ListingOptions>({
  description: "Newest users first.",
  examples: [["hamlet user list --all", "all users"]],
  configure: (command: Command) => addListOptions(command),
  run: listUsers,
})

async function listUsers({ connect, output }: Context, options: ListingOptions): Promise<void> {
  const { client } = await connect()
  const now = Date.now()
  await showList(output, client.items("listUsers", { limit: toPageLimit(options) }), options, {
    empty: "No users",
    columns: [
      { title: "user", value: ({ username }) => username, paint: (colour) => colour.bold },
      { title: "email", value: ({ email }) => email },
      {
        title: "state",
        value: toState,
        paint: (colour, user) => (toState(user) === "active" ? colour.green : colour.yellow),
      },
      {
        title: "since",
        value: ({ createdAt }) => createdAt,
        human: ({ createdAt }) => toAgo(createdAt, now),
      },
      { title: "id", value: ({ id }) => id, isWhole: true },
    ],
  })
}

function toState({ suspendedAt, deletedAt }: Item<"listUsers">): string {
  if (deletedAt !== null) return "deleted"
  return suspendedAt === null ? "active" : "suspended"
}
