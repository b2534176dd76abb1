import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"

export const command = defineCommand<ListingOptions>({
  description: "Lists invitations that are neither accepted nor expired, newest first.",
  examples: [["hamlet invite list", "open invitations"]],
  configure: (command: Command) => addListOptions(command),
  run: listInvitations,
})

async function listInvitations(
  { connect, output }: Context,
  options: ListingOptions,
): Promise<void> {
  const { client } = await connect()
  await showList(
    output,
    client.items("listInvitations", { limit: toPageLimit(options) }),
    options,
    {
      empty: "No open invitations",
      columns: [
        { title: "note", value: ({ note }) => note, paint: (colour) => colour.bold },
        { title: "by", value: ({ createdBy }) => createdBy },
        { title: "until", value: ({ expiresAt }) => expiresAt },
        { title: "id", value: ({ id }) => id, isWhole: true },
      ],
    },
  )
}
