import { type Command, Option } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { privacies } from "../../contract-copies.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import type { Connection } from "../../servers/connection.ts"
import { type Privacy, toValListView, withoutTexts } from "../../vals.ts"

interface ListOptions extends ListingOptions {
  readonly user: string | undefined
  readonly everybody?: true
  readonly privacy?: Privacy
}

export const command = defineCommand<ListOptions>({
  description: "Lists your vals if you name no user, newest first.",
  examples: [
    ["hamlet val list", "your vals"],
    ["hamlet val list ada", "public vals of ada"],
    ["hamlet val list --everybody -n 10", "the ten newest vals of all users"],
    ["hamlet val list --privacy public --json", "your public vals, one JSON object per line"],
  ],
  configure: (command: Command) =>
    addListOptions(
      command
        .argument("[user]", "owner of the vals")
        .option("-e, --everybody", "public vals of all users, and your own")
        .addOption(
          new Option("--privacy <privacy>", "only vals with this privacy").choices(privacies),
        ),
    ),
  run: listVals,
})

async function listVals({ connect, output }: Context, options: ListOptions): Promise<void> {
  const connection = await connect()
  const userId = options.everybody ? undefined : await findUserId(connection, options.user)
  const vals = connection.client.items("listVals", {
    limit: toPageLimit(options),
    ...withoutTexts(output),
    ...(userId !== undefined && { userId }),
    ...(options.privacy && { privacy: options.privacy }),
  })
  await showList(output, vals, options, toValListView('No vals; create one with "hamlet val new"'))
}

async function findUserId(
  { client, me }: Connection,
  username: string | undefined,
): Promise<string> {
  return (username === undefined ? await me() : await client.getUserByName({ username })).id
}
