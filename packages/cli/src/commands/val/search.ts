import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toValListView } from "../../vals.ts"

interface SearchOptions extends ListingOptions {
  readonly text: readonly string[]
}

export const command = defineCommand<SearchOptions>({
  description: "Finds the text as it is written, in names, code and readmes, ignoring case.",
  examples: [
    ["hamlet val search 'new Response('", "in anybody's public vals and all of yours"],
    ["hamlet val search rss --json", "with their code, one object on each line"],
  ],
  configure: (command: Command) =>
    addListOptions(command.argument("<text...>", "what to look for")),
  run: searchVals,
})

async function searchVals({ connect, output }: Context, options: SearchOptions): Promise<void> {
  const { client } = await connect()
  const vals = client.items("searchVals", {
    query: options.text.join(" "),
    limit: toPageLimit(options),
  })
  await showList(output, vals, options, toValListView("There is none that contains this"))
}
