import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toAgo } from "../../terminal/ago.ts"

export const command = defineCommand<ListingOptions>({
  description: "Newest first. The account page of the web app links another one.",
  examples: [["hamlet identity list", "list the accounts that sign you in"]],
  configure: (command: Command) => addListOptions(command),
  run: listIdentities,
})

async function listIdentities(
  { connect, output }: Context,
  options: ListingOptions,
): Promise<void> {
  const { client } = await connect()
  const now = Date.now()
  await showList(output, client.items("listIdentities", { limit: toPageLimit(options) }), options, {
    empty: "No account of the provider is linked",
    columns: [
      { title: "email", value: ({ email }) => email },
      { title: "issuer", value: ({ issuer }) => issuer },
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
      { title: "id", value: ({ id }) => id, isWhole: true },
    ],
  })
}
