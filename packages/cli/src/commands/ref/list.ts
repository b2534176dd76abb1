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
  description: "Each line shows a val and a val that it imports.",
  examples: [
    ["hamlet ref list", "vals that import yours"],
    ["hamlet ref list ada/hello", "vals that import this one"],
    ["hamlet ref list hello --dependencies", "vals that this one imports"],
  ],
  configure: (command: Command) =>
    addListOptions(
      command
        .argument("[val]", "only references to this val")
        .option("--dependencies", "list the vals it imports instead"),
    ),
  run: listReferences,
})

async function listReferences({ connect, output }: Context, options: ListOptions): Promise<void> {
  const connection = await connect()
  const now = Date.now()
  await showList(output, await findReferences(connection, options), options, {
    empty: "No references",
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
    throw new CliError("usage", "Cannot list dependencies without a val", {
      advice: "name a val",
    })
  }
  const { id } = await findWholeVal(connection, options.val)
  return client.items(options.dependencies ? "listValDependencies" : "listValReferences", {
    val_id: id,
    limit,
  })
}
