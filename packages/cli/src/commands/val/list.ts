import { type Command, Option } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { privacies } from "../../contract-copies.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import type { Connection } from "../../servers/connection.ts"
import { type Privacy, toValListView } from "../../vals.ts"

interface ListOptions extends ListingOptions {
  readonly user: string | undefined
  readonly everybody?: true
  readonly privacy?: Privacy
}

export const command = defineCommand<ListOptions>({
  description: "Without a user: your own. The newest come first.",
  examples: [
    ["hamlet val list", "your vals"],
    ["hamlet val list ada", "what ada shows to others"],
    ["hamlet val list --everybody -n 10", "the ten newest public vals, and yours among them"],
    ["hamlet val list --privacy public --json", "your public vals, one object on each line"],
  ],
  configure: (command: Command) =>
    addListOptions(
      command
        .argument("[user]", "whose vals")
        .option("-e, --everybody", "public vals of everybody, and yours")
        .addOption(new Option("--privacy <privacy>", "only those").choices(privacies)),
    ),
  run: listVals,
})

async function listVals({ connect, output }: Context, options: ListOptions): Promise<void> {
  const connection = await connect()
  const userId = options.everybody ? undefined : await findUserId(connection, options.user)
  const vals = connection.client.items("listVals", {
    limit: toPageLimit(options),
    ...(userId !== undefined && { userId }),
    ...(options.privacy && { privacy: options.privacy }),
  })
  await showList(output, vals, options, toValListView('There are none: "hamlet val new" makes one'))
}

async function findUserId(
  { client, me }: Connection,
  username: string | undefined,
): Promise<string> {
  return (username === undefined ? await me() : await client.getUserByName({ username })).id
}
