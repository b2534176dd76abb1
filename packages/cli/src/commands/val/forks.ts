import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toValListView, withoutTexts } from "../../vals.ts"

interface ForksOptions extends ListingOptions {
  readonly val: string
}

export const command = defineCommand<ForksOptions>({
  description: "Lists public forks and your own, newest first.",
  examples: [["hamlet val forks ada/hello", "list the forks of a val"]],
  configure: (command: Command) => addListOptions(command.argument("<val>", "name of the val")),
  run: listForks,
})

async function listForks({ connect, output }: Context, options: ForksOptions): Promise<void> {
  const connection = await connect()
  const { id } = await findWholeVal(connection, options.val)
  const forks = connection.client.items("listForks", {
    val_id: id,
    limit: toPageLimit(options),
    ...withoutTexts(output),
  })
  await showList(output, forks, options, toValListView("No forks"))
}
