import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface PauseOptions {
  readonly webhook: string
}

export const command = defineCommand<PauseOptions>({
  description: `Events that happen until it is resumed are not sent, not even later. Messages that wait fail; "hamlet
webhook redeliver" sends them again.`,
  examples: [["hamlet webhook pause WEBHOOK", "send no more events"]],
  configure: (command: Command) => command.argument("<webhook>", "id of the webhook"),
  run: pauseWebhook,
})

async function pauseWebhook(
  { connect, output }: Context,
  { webhook: id }: PauseOptions,
): Promise<void> {
  const { client } = await connect()
  const webhook = await client.updateWebhook({ webhook_id: id, isPaused: true })
  output.print({ json: webhook, plain: webhook.id, human: `Paused ${webhook.id}` })
}
