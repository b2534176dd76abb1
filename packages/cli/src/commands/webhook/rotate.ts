import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface RotateOptions {
  readonly webhook: string
}

export const command = defineCommand<RotateOptions>({
  description: `Prints the new secret once. For a day, messages are signed with the previous secret too, so that the
receiver can be updated without losing messages.`,
  examples: [["hamlet webhook rotate WEBHOOK", "replace the secret of a webhook"]],
  configure: (command: Command) => command.argument("<webhook>", "id of the webhook"),
  run: rotateSecret,
})

async function rotateSecret(
  { connect, output }: Context,
  { webhook: id }: RotateOptions,
): Promise<void> {
  const { client } = await connect()
  const rotated = await client.rotateWebhookSecret({ webhook_id: id })
  output.print({ json: rotated, plain: rotated.secret, human: rotated.secret })
  if (output.mode === "human") output.note("Save the secret now: it will not be shown again")
}
