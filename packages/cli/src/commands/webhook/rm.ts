import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addConfirmOption, type ConfirmOptions, confirm } from "../../terminal/confirm.ts"

interface RmOptions extends ConfirmOptions {
  readonly webhook: string
}

export const command = defineCommand<RmOptions>({
  description: "Its deliveries are deleted too, and those that wait are not sent.",
  examples: [
    ["hamlet webhook rm WEBHOOK", 'delete a webhook by its id (see "hamlet webhook list")'],
  ],
  configure: (command: Command) =>
    addConfirmOption(command.argument("<webhook>", "id of the webhook")),
  run: deleteWebhook,
})

async function deleteWebhook(
  { connect, output }: Context,
  { webhook: id, ...options }: RmOptions,
): Promise<void> {
  const { client } = await connect()
  await confirm(`Delete the webhook ${id}?`, options)
  await client.deleteWebhook({ webhook_id: id })
  output.print({ json: { id, deleted: true }, plain: id, human: `Deleted ${id}` })
}
