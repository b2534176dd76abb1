import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal, toFullName } from "../../names/find-val.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import type { Connection } from "../../servers/connection.ts"
import { toAgo } from "../../terminal/ago.ts"

interface ListOptions extends ListingOptions {
  readonly val: string | undefined
  readonly dependencies?: true
}

export const command = defineCommand<ListOptions>({
  description: "Each line is a val and the val that it imports.",
  examples: [
    ["hamlet ref list", "who uses your vals"],
    ["hamlet ref list ada/hello", "who uses this one"],
    ["hamlet ref list hello --dependencies", "what this one uses"],
  ],
  configure: (command: Command) =>
    addListOptions(
      command
        .argument("[val]", "only those of this one")
        .option("--dependencies", "what it imports, instead of who imports it"),
    ),
  run: listReferences,
})

async function listReferences({ connect, output }: Context, options: ListOptions): Promise<void> {
  const connection = await connect()
  const now = Date.now()
  await showList(output, await findReferences(connection, options), options, {
    empty: "There are none",
    columns: [
      {
        title: "val",
        value: ({ reference }) => toFullName(reference),
        paint: (colour) => colour.bold,
      },
      { title: "imports", value: ({ dependsOn }) => toFullName(dependsOn) },
      {
        title: "since",
        value: ({ referencedAt }) => referencedAt,
        human: ({ referencedAt }) => toAgo(referencedAt, now),
      },
    ],
  })
}

async function findReferences(connection: Connection, options: ListOptions) {
  const { client } = connection
  const limit = toPageLimit(options)
  if (options.val === undefined) {
    if (!options.dependencies) return client.items("listMyReferences", { limit })
    throw new CliError("usage", "Cannot tell whose dependencies are meant", {
      advice: "name a val",
    })
  }
  const { id } = await findWholeVal(connection, options.val)
  return client.items(options.dependencies ? "listValDependencies" : "listValReferences", {
    val_id: id,
    limit,
  })
}
