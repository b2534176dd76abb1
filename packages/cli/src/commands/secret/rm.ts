import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addConfirmOption, type ConfirmOptions, confirm } from "../../terminal/confirm.ts"

interface RmOptions extends ConfirmOptions {
  readonly secret: string
}

export const command = defineCommand<RmOptions>({
  examples: [
    ["hamlet secret rm API_KEY", "delete a secret after confirmation"],
    ["hamlet secret rm API_KEY --yes", "delete it without confirmation"],
  ],
  configure: (command: Command) =>
    addConfirmOption(command.argument("<secret>", "name of the secret")),
  run: deleteSecret,
})

async function deleteSecret(
  { connect, output }: Context,
  { secret: name, ...options }: RmOptions,
): Promise<void> {
  const { client } = await connect()
  await confirm(`Delete the secret ${name}?`, options)
  await client.deleteSecret({ name })
  output.print({ json: { name, deleted: true }, plain: name, human: `Deleted ${name}` })
}
