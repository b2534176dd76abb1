import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toAgo } from "../../terminal/ago.ts"

interface ListOptions extends ListingOptions {
  readonly val?: string
}

export const command = defineCommand<ListOptions>({
  description: "Prints names only: values cannot be read back.",
  examples: [
    ["hamlet secret list", "list your secrets"],
    ["hamlet secret list --val report", "list the secrets that one val has of its own"],
  ],
  configure: (command: Command) =>
    addListOptions(command).option("--val <val>", "secrets of this val alone"),
  run: listSecrets,
})

async function listSecrets(
  { connect, output }: Context,
  { val: name, ...options }: ListOptions,
): Promise<void> {
  const connection = await connect()
  const { client } = connection
  const now = Date.now()
  const limit = toPageLimit(options)
  const val = name === undefined ? undefined : await findWholeVal(connection, name)
  const secrets = val
    ? client.items("listValSecrets", { val_id: val.id, limit })
    : client.items("listSecrets", { limit })
  await showList(output, secrets, options, {
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
