import type { Item, Output } from "@hamlet/contract/client"
import { deliveryStatuses, eventTypes } from "@hamlet/contract/lists"
import { CliError } from "../../cli-error.ts"
import type { Verbs } from "../../command.ts"
import { findWholeVal } from "../../names/find-val.ts"
import type { RecordField } from "../../output/output.ts"
import { confirm, confirmOption, defineCall, defineList, listOptions } from "../../shapes.ts"
import { toAgo } from "../../terminal/ago.ts"

const takesWebhook = { "<webhook>": "id of the webhook" } as const
const secretNote = "Save the secret now: it will not be shown again"

export const verbs: Verbs = {
  add: defineCall({
    summary: "Subscribe a URL or a val to events",
    description: `Events are sent to a URL, or start runs of one of your vals. Prints the secret once: receivers verify
signatures with it.`,
    examples: [
      [
        "hamlet webhook add https://example.com/hook --event run.failed",
        "be told when a val of yours fails",
      ],
      [
        "hamlet webhook add onSave --event val.saved val.deleted --val hello",
        "run the val onSave when the val hello changes",
      ],
    ],
    takes: {
      "<target>": "URL, or the name of a val of yours",
      "-e, --event <event...>": { help: "events to send", choices: eventTypes, isMandatory: true },
      "--val <val>": "only events of this val",
      "--description <text>": "what it is for",
    },
    async call(session, { target, event, val, description }) {
      const isUrl = /^https?:\/\//i.test(target)
      if (!isUrl && target.includes("://"))
        throw new CliError(
          "usage",
          `Cannot add a webhook to "${target}": its URL must be http or https`,
        )
      const created = await session.client.createWebhook({
        ...(isUrl ? { url: target } : { targetValId: (await findWholeVal(session, target)).id }),
        events: event,
        valId: val === undefined ? undefined : (await findWholeVal(session, val)).id,
        description,
      })
      return {
        json: created,
        fields: [
          ["webhook", created.id],
          ["secret", created.secret],
        ],
        note: secretNote,
      }
    },
  }),
  list: defineList({
    summary: "List your webhooks",
    description: "Shows where events go, and whether that works. Secrets are not shown.",
    examples: [["hamlet webhook list", "list your webhooks"]],
    takes: listOptions,
    items: ({ client }, _, page) => client.items("listWebhooks", page),
    empty: 'No webhooks; add one with "hamlet webhook add"',
    columns: [
      { title: "webhook", value: ({ id }) => id, isWhole: true },
      { title: "to", value: toTarget, paint: (colour) => colour.bold },
      { title: "status", value: toState },
      { title: "of", value: toSubject },
      { title: "events", value: ({ events }) => events.join(" ") },
    ],
  }),
  show: defineCall({
    summary: "Show a webhook or one of its deliveries",
    description: "With the id of a delivery, shows what was sent and what the receiver responded.",
    examples: [
      ["hamlet webhook show WEBHOOK", "show a webhook"],
      ["hamlet webhook show WEBHOOK DELIVERY", "show a delivery with its request and response"],
    ],
    takes: { ...takesWebhook, "[delivery]": "id of one of its deliveries" },
    async call({ client }, { webhook: id, delivery }) {
      if (delivery === undefined) {
        const webhook = await client.getWebhook({ webhook_id: id })
        return { json: webhook, fields: toFields(webhook) }
      }
      const found = await client.getDelivery({ webhook_id: id, delivery_id: delivery })
      return { json: found, fields: toDeliveryFields(found) }
    },
  }),
  test: defineCall({
    summary: "Send a test message",
    description: "Sends a message of type webhook.test, even while the webhook is paused.",
    examples: [["hamlet webhook test WEBHOOK", "send a test message"]],
    takes: takesWebhook,
    async call({ client }, { webhook }) {
      const sent = await client.testWebhook({ webhook_id: webhook })
      const human = `Sending ${sent.id}; "hamlet webhook show ${webhook} ${sent.id}" shows the response`
      return { json: sent, plain: sent.id, human }
    },
  }),
  deliveries: defineList({
    summary: "List what was sent to a webhook",
    description: "What was sent to a webhook, newest first. Deliveries are kept for three days.",
    examples: [
      ["hamlet webhook deliveries WEBHOOK", "list the deliveries of a webhook"],
      ["hamlet webhook deliveries WEBHOOK --status failed", "only those that have failed"],
    ],
    takes: {
      ...takesWebhook,
      "--status <status>": { help: "only with this status", choices: deliveryStatuses },
      ...listOptions,
    },
    items: ({ client }, { webhook, status }, page) =>
      client.items("listDeliveries", { webhook_id: webhook, status, ...page }),
    empty: "No deliveries",
    columns: [
      { title: "delivery", value: ({ id }) => id, isWhole: true },
      { title: "type", value: ({ type }) => type, paint: (colour) => colour.bold },
      { title: "status", value: ({ status }) => status },
      { title: "attempts", value: ({ attempts }) => attempts },
      { title: "response", value: ({ responseStatus }) => responseStatus },
      { title: "created", value: ({ createdAt }) => createdAt, isTime: true },
      { title: "error", value: ({ error }) => error },
    ],
  }),
  redeliver: defineCall({
    summary: "Send a message again",
    description: "Sends a message again, with the same id, even while the webhook is paused.",
    examples: [["hamlet webhook redeliver WEBHOOK DELIVERY", "send a message again"]],
    takes: { ...takesWebhook, "<delivery>": "id of the delivery" },
    async call({ client }, { webhook, delivery }) {
      const again = await client.retryDelivery({ webhook_id: webhook, delivery_id: delivery })
      return { json: again, plain: again.id, human: `Sending ${again.id} again` }
    },
  }),
  pause: defineCall({
    summary: "Pause a webhook",
    description: `Events that happen until it is resumed are not sent, not even later. Messages that wait fail; "hamlet
webhook redeliver" sends them again.`,
    examples: [["hamlet webhook pause WEBHOOK", "send no more events"]],
    takes: takesWebhook,
    async call({ client }, { webhook: id }) {
      const webhook = await client.updateWebhook({ webhook_id: id, isPaused: true })
      return { json: webhook, plain: webhook.id, human: `Paused ${webhook.id}` }
    },
  }),
  resume: defineCall({
    summary: "Resume a paused or disabled webhook",
    description:
      "Sends events again from now on; also to a webhook that the server has disabled because it failed for days.",
    examples: [["hamlet webhook resume WEBHOOK", "send events again"]],
    takes: takesWebhook,
    async call({ client }, { webhook: id }) {
      const webhook = await client.updateWebhook({ webhook_id: id, isPaused: false })
      return { json: webhook, plain: webhook.id, human: `Resumed ${webhook.id}` }
    },
  }),
  rotate: defineCall({
    summary: "Replace the secret of a webhook",
    description: `Prints the new secret once. For a day, messages are signed with the previous secret too, so that the
receiver can be updated without losing messages.`,
    examples: [["hamlet webhook rotate WEBHOOK", "replace the secret of a webhook"]],
    takes: takesWebhook,
    async call({ client }, { webhook }) {
      const rotated = await client.rotateWebhookSecret({ webhook_id: webhook })
      return { json: rotated, plain: rotated.secret, note: secretNote }
    },
  }),
  rm: defineCall({
    summary: "Delete a webhook",
    description: "Its deliveries are deleted too, and those that wait are not sent.",
    examples: [
      ["hamlet webhook rm WEBHOOK", 'delete a webhook by its id (see "hamlet webhook list")'],
    ],
    takes: { ...takesWebhook, ...confirmOption },
    async call({ client }, { webhook: id, yes }) {
      await confirm(`Delete the webhook ${id}?`, { yes })
      await client.deleteWebhook({ webhook_id: id })
      return { json: { id, deleted: true }, plain: id, human: `Deleted ${id}` }
    },
  }),
}

type Webhook = Item<"listWebhooks">

/** The URL or the val that gets the events. */
function toTarget({ url, targetVal }: Webhook): string {
  return url ?? `${targetVal?.username}/${targetVal?.name}`
}

/** The val whose events it gets. */
function toSubject({ val, valId }: Webhook): string {
  return val?.name ?? valId ?? "all vals"
}

/** `failing` while it is active, but every attempt fails. */
function toState({ status, failingSince }: Webhook): string {
  return status === "active" && failingSince !== null ? "failing" : status
}

function toFields(webhook: Output<"getWebhook">): readonly RecordField[] {
  const { failingSince } = webhook
  const now = Date.now()
  return [
    ["webhook", webhook.id],
    ["to", toTarget(webhook)],
    ["events", webhook.events.join(" ")],
    ["of", toSubject(webhook)],
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
