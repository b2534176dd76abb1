import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface RedeliverOptions {
  readonly webhook: string
  readonly delivery: string
}

export const command = defineCommand<RedeliverOptions>({
  description: "Sends a message again, with the same id, even while the webhook is paused.",
  examples: [["hamlet webhook redeliver WEBHOOK DELIVERY", "send a message again"]],
  configure: (command: Command) =>
    command.argument("<webhook>", "id of the webhook").argument("<delivery>", "id of the delivery"),
  run: redeliver,
})

async function redeliver(
  { connect, output }: Context,
  { webhook, delivery }: RedeliverOptions,
): Promise<void> {
  const { client } = await connect()
  const again = await client.retryDelivery({ webhook_id: webhook, delivery_id: delivery })
  output.print({ json: again, plain: again.id, human: `Sending ${again.id} again` })
}
