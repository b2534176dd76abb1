import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toAgo } from "../../terminal/ago.ts"

interface ListOptions extends ListingOptions {
  readonly val: string
}

export const command = defineCommand<ListOptions>({
  description: "Newest first; * marks the current version.",
  examples: [
    ["hamlet version list hello", "list the versions of a val"],
    ["hamlet version list hello --all --json", "all versions with their code"],
  ],
  configure: (command: Command) => addListOptions(command.argument("<val>", "name of the val")),
  run: listVersions,
})

async function listVersions({ connect, output }: Context, options: ListOptions): Promise<void> {
  const connection = await connect()
  const val = await findWholeVal(connection, options.val)
  const now = Date.now()
  const versions = connection.client.items("listVersions", {
    val_id: val.id,
    limit: toPageLimit(options),
  })
  await showList(output, versions, options, {
    empty: "No versions",
    columns: [
      { title: "", value: ({ version }) => (version === val.version ? "*" : "") },
      { title: "version", value: ({ version }) => version, paint: (colour) => colour.bold },
      {
        title: "saved",
        value: ({ createdAt }) => createdAt,
        human: ({ createdAt }) => toAgo(createdAt, now),
      },
      {
        title: "ran",
        value: (one) => one.runStartAt,
        human: (one) => (one.runStartAt === null ? "" : toAgo(one.runStartAt, now)),
      },
      { title: "lines", value: ({ code }) => code.replace(/\n$/, "").split("\n").length },
    ],
  })
}
