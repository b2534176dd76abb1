import type { Item } from "@hamlet/contract/client"
import { type Command, Option } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { deliveryStatuses } from "../../contract-copies.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"
import { toAgo } from "../../terminal/ago.ts"

interface DeliveriesOptions extends ListingOptions {
  readonly webhook: string
  readonly status?: Item<"listDeliveries">["status"]
}

export const command = defineCommand<DeliveriesOptions>({
  description: "What was sent to a webhook, newest first. Deliveries are kept for three days.",
  examples: [
    ["hamlet webhook deliveries WEBHOOK", "list the deliveries of a webhook"],
    ["hamlet webhook deliveries WEBHOOK --status failed", "only those that have failed"],
  ],
  configure: (command: Command) =>
    addListOptions(
      command
        .argument("<webhook>", "id of the webhook")
        .addOption(
          new Option("--status <status>", "only with this status").choices(deliveryStatuses),
        ),
    ),
  run: listDeliveries,
})

async function listDeliveries(
  { connect, output }: Context,
  options: DeliveriesOptions,
): Promise<void> {
  const { client } = await connect()
  const now = Date.now()
  const deliveries = client.items("listDeliveries", {
    webhook_id: options.webhook,
    limit: toPageLimit(options),
    ...(options.status && { status: options.status }),
  })
  await showList(output, deliveries, options, {
    empty: "No deliveries",
    columns: [
      { title: "delivery", value: ({ id }) => id, isWhole: true },
      { title: "type", value: ({ type }) => type, paint: (colour) => colour.bold },
      { title: "status", value: ({ status }) => status },
      { title: "attempts", value: ({ attempts }) => attempts },
      { title: "response", value: ({ responseStatus }) => responseStatus },
      {
        title: "created",
        value: ({ createdAt }) => createdAt,
        human: ({ createdAt }) => toAgo(createdAt, now),
      },
      { title: "error", value: ({ error }) => error },
    ],
  })
}
