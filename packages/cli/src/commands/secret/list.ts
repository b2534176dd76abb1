import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toAgo } from "../../terminal/ago.ts"

export const command = defineCommand<ListingOptions>({
  description: "Prints names only: values cannot be read back.",
  examples: [["hamlet secret list", "list your secrets"]],
  configure: (command: Command) => addListOptions(command),
  run: listSecrets,
})

async function listSecrets({ connect, output }: Context, options: ListingOptions): Promise<void> {
  const { client } = await connect()
  const now = Date.now()
  await showList(output, client.items("listSecrets", { limit: toPageLimit(options) }), options, {
    empty: 'No secrets; create one with "hamlet secret set"',
    columns: [
      { title: "secret", value: ({ name }) => name, paint: (colour) => colour.bold },
      { title: "hosts", value: ({ hosts }) => hosts?.join(",") ?? null },
      {
        title: "updated",
        value: ({ updatedAt }) => updatedAt,
        human: ({ updatedAt }) => toAgo(updatedAt, now),
      },
    ],
  })
}
