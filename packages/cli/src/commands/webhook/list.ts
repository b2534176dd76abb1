import type { Item } from "@hamlet/contract/client"
import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addListOptions, type ListingOptions, showList, toPageLimit } from "../../output/listing.ts"

export const command = defineCommand<ListingOptions>({
  description: "Shows where events go, and whether that works. Secrets are not shown.",
  examples: [["hamlet webhook list", "list your webhooks"]],
  configure: (command: Command) => addListOptions(command),
  run: listWebhooks,
})

async function listWebhooks({ connect, output }: Context, options: ListingOptions): Promise<void> {
  const { client } = await connect()
  await showList(output, client.items("listWebhooks", { limit: toPageLimit(options) }), options, {
    empty: 'No webhooks; add one with "hamlet webhook add"',
    columns: [
      { title: "webhook", value: ({ id }) => id, isWhole: true },
      { title: "to", value: toTarget, paint: (colour) => colour.bold },
      { title: "status", value: toState },
      { title: "of", value: ({ val, valId }) => val?.name ?? valId ?? "all vals" },
      { title: "events", value: ({ events }) => events.join(" ") },
    ],
  })
}

type Webhook = Item<"listWebhooks">

/** The URL or the val that gets the events. */
export function toTarget({ url, targetVal }: Webhook): string {
  return url ?? `${targetVal?.username}/${targetVal?.name}`
}

/** `failing` while it is active, but every attempt fails. */
function toState({ status, failingSince }: Webhook): string {
  return status === "active" && failingSince !== null ? "failing" : status
}
