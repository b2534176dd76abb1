import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toAgo } from "../../terminal/ago.ts"

export const command = defineCommand<ListingOptions>({
  description:
    "Shows their scopes and when they were last used. The tokens themselves are not stored.",
  examples: [["hamlet token list", "list your tokens"]],
  configure: (command: Command) => addListOptions(command),
  run: listTokens,
})

async function listTokens({ connect, output }: Context, options: ListingOptions): Promise<void> {
  const { client } = await connect()
  const now = Date.now()
  const ago = (at: string | null, otherwise: string) => (at === null ? otherwise : toAgo(at, now))
  await showList(output, client.items("listTokens", { limit: toPageLimit(options) }), options, {
    empty: "No tokens",
    columns: [
      { title: "token", value: ({ id }) => id, isWhole: true },
      { title: "name", value: ({ name }) => name, paint: (colour) => colour.bold },
      {
        title: "used",
        value: ({ lastUsedAt }) => lastUsedAt,
        human: ({ lastUsedAt }) => ago(lastUsedAt, "never"),
      },
      {
        title: "expires",
        value: ({ expiresAt }) => expiresAt,
        human: ({ expiresAt }) => ago(expiresAt, "never"),
      },
      { title: "scopes", value: ({ scopes }) => scopes.join(" ") },
    ],
  })
}
