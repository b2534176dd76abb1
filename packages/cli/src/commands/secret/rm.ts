import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { addConfirmOption, type ConfirmOptions, confirm } from "../../terminal/confirm.ts"

interface RmOptions extends ConfirmOptions {
  readonly secret: string
  readonly val?: string
}

export const command = defineCommand<RmOptions>({
  examples: [
    ["hamlet secret rm API_KEY", "delete a secret after confirmation"],
    ["hamlet secret rm API_KEY --yes", "delete it without confirmation"],
    ["hamlet secret rm API_KEY --val report", "delete a secret of one val"],
  ],
  configure: (command: Command) =>
    addConfirmOption(command.argument("<secret>", "name of the secret")).option(
      "--val <val>",
      "a secret of this val alone",
    ),
  run: deleteSecret,
})

async function deleteSecret(
  { connect, output }: Context,
  { secret: name, val: valName, ...options }: RmOptions,
): Promise<void> {
  const connection = await connect()
  const { client } = connection
  const val = valName === undefined ? undefined : await findWholeVal(connection, valName)
  await confirm(`Delete the secret ${name}${val ? ` of ${val.name}` : ""}?`, options)
  if (val) await client.deleteValSecret({ val_id: val.id, name })
  else await client.deleteSecret({ name })
  output.print({ json: { name, deleted: true }, plain: name, human: `Deleted ${name}` })
}
