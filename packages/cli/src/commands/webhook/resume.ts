import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface ResumeOptions {
  readonly webhook: string
}

export const command = defineCommand<ResumeOptions>({
  description:
    "Sends events again from now on; also to a webhook that the server has disabled because it failed for days.",
  examples: [["hamlet webhook resume WEBHOOK", "send events again"]],
  configure: (command: Command) => command.argument("<webhook>", "id of the webhook"),
  run: resumeWebhook,
})

async function resumeWebhook(
  { connect, output }: Context,
  { webhook: id }: ResumeOptions,
): Promise<void> {
  const { client } = await connect()
  const webhook = await client.updateWebhook({ webhook_id: id, isPaused: false })
  output.print({ json: webhook, plain: webhook.id, human: `Resumed ${webhook.id}` })
}
