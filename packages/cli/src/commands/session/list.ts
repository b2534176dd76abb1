import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toAgo } from "../../terminal/ago.ts"

export const command = defineCommand<ListingOptions>({
  description: "Latest sign-in first.",
  examples: [["hamlet session list", "list your browser sessions"]],
  configure: (command: Command) => addListOptions(command),
  run: listSessions,
})

async function listSessions({ connect, output }: Context, options: ListingOptions): Promise<void> {
  const { client } = await connect()
  const now = Date.now()
  await showList(output, client.items("listSessions", { limit: toPageLimit(options) }), options, {
    empty: "No browser sessions",
    columns: [
      { title: "browser", value: ({ userAgent }) => userAgent },
      {
        title: "since",
        value: ({ createdAt }) => createdAt,
        human: ({ createdAt }) => toAgo(createdAt, now),
      },
      {
        title: "used",
        value: ({ lastUsedAt }) => lastUsedAt,
        human: ({ lastUsedAt }) => (lastUsedAt === null ? "" : toAgo(lastUsedAt, now)),
      },
      { title: "until", value: ({ expiresAt }) => expiresAt },
      { title: "id", value: ({ id }) => id, isWhole: true },
    ],
  })
}
