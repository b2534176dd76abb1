import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface TestOptions {
  readonly webhook: string
}

export const command = defineCommand<TestOptions>({
  description: "Sends a message of type webhook.test, even while the webhook is paused.",
  examples: [["hamlet webhook test WEBHOOK", "send a test message"]],
  configure: (command: Command) => command.argument("<webhook>", "id of the webhook"),
  run: testWebhook,
})

async function testWebhook(
  { connect, output }: Context,
  { webhook: id }: TestOptions,
): Promise<void> {
  const { client } = await connect()
  const delivery = await client.testWebhook({ webhook_id: id })
  output.print({
    json: delivery,
    plain: delivery.id,
    human: `Sending ${delivery.id}; "hamlet webhook show ${id} ${delivery.id}" shows the response`,
  })
}
