import type { Output } from "@hamlet/contract/client"
import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { RecordField } from "../../output/output.ts"
import { toAgo } from "../../terminal/ago.ts"
import { toTarget } from "./list.ts"

interface ShowOptions {
  readonly webhook: string
  readonly delivery?: string
}

export const command = defineCommand<ShowOptions>({
  description: "With the id of a delivery, shows what was sent and what the receiver responded.",
  examples: [
    ["hamlet webhook show WEBHOOK", "show a webhook"],
    ["hamlet webhook show WEBHOOK DELIVERY", "show a delivery with its request and response"],
  ],
  configure: (command: Command) =>
    command
      .argument("<webhook>", "id of the webhook")
      .argument("[delivery]", "id of one of its deliveries"),
  run: showWebhook,
})

async function showWebhook(
  { connect, output }: Context,
  { webhook: id, delivery }: ShowOptions,
): Promise<void> {
  const { client } = await connect()
  if (delivery === undefined) {
    const webhook = await client.getWebhook({ webhook_id: id })
    return output.record(webhook, toFields(webhook))
  }
  const found = await client.getDelivery({ webhook_id: id, delivery_id: delivery })
  output.record(found, toDeliveryFields(found))
}

function toFields(webhook: Output<"getWebhook">): readonly RecordField[] {
  const { failingSince } = webhook
  const now = Date.now()
  return [
    ["webhook", webhook.id],
    ["to", toTarget(webhook)],
    ["events", webhook.events.join(" ")],
    ["of", webhook.val?.name ?? webhook.valId ?? "all vals"],
    ["description", webhook.description],
    ["status", webhook.status],
    ["reason", webhook.disabledReason],
    ["failing", failingSince, failingSince === null ? "" : `since ${toAgo(failingSince, now)}`],
    ["dropped", webhook.droppedEvents || null],
    ["created", webhook.createdAt, toAgo(webhook.createdAt, now)],
  ]
}

function toDeliveryFields(delivery: Output<"getDelivery">): readonly RecordField[] {
  const { request, response, nextAttemptAt } = delivery
  const now = Date.now()
  return [
    ["delivery", delivery.id],
    ["type", delivery.type],
    ["status", delivery.status],
    ["attempts", delivery.attempts],
    ["created", delivery.createdAt, toAgo(delivery.createdAt, now)],
    ["next", nextAttemptAt, nextAttemptAt === null ? "" : toAgo(nextAttemptAt, now)],
    ["error", delivery.error],
    ["run", delivery.runId],
    ["to", request?.url ?? null],
    ["payload", delivery.payload],
    ["response", response && `${response.status} in ${response.durationMs} ms`],
    ["body", response?.body ?? null],
  ]
}
