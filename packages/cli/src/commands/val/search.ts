import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toValListView, withoutTexts } from "../../vals.ts"

interface SearchOptions extends ListingOptions {
  readonly text: readonly string[]
}

export const command = defineCommand<SearchOptions>({
  description: "Searches names, code and readmes for the exact text, ignoring case.",
  examples: [
    ["hamlet val search 'new Response('", "search public vals and all of yours"],
    ["hamlet val search rss --json", "print vals with their code, one JSON object per line"],
  ],
  configure: (command: Command) =>
    addListOptions(command.argument("<text...>", "text to search for")),
  run: searchVals,
})

async function searchVals({ connect, output }: Context, options: SearchOptions): Promise<void> {
  const { client } = await connect()
  const vals = client.items("searchVals", {
    query: options.text.join(" "),
    limit: toPageLimit(options),
    ...withoutTexts(output),
  })
  await showList(output, vals, options, toValListView("No matching vals"))
}
