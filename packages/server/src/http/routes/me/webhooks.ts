import { delivery, deliveryDetail, type newWebhook, webhook } from "@hamlet/contract"
import { toOwnJson } from "@hamlet/kit"
import type { z } from "zod"
import type { Delivery, DeliveryDetail } from "../../../domain/webhooks/deliveries.ts"
import { toEventPayload } from "../../../domain/webhooks/events.ts"
import type {
  ShownWebhook,
  Webhook,
  WebhookSettings,
  WebhookTarget,
} from "../../../domain/webhooks/webhooks.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { done, json } from "../../response/api-response.ts"
import type { Links } from "../../response/links.ts"
import { listOf } from "../../response/page.ts"
import { createView } from "../../response/view.ts"

/** The caller's webhooks and their deliveries. */
export function webhookHandlers({ webhooks, deliveries, api: { links } }: Nouns) {
  return {
    listWebhooks: listOf(links, ({ caller, query }) => webhooks.list(caller, query), toWebhookView),
    createWebhook: async ({ caller, body }) => {
      const settings: WebhookSettings = {
        target: toTarget(body) as WebhookTarget,
        events: body.events,
        valId: body.valId ?? null,
        description: body.description ?? null,
        isPaused: body.isPaused ?? false,
      }
      return json(201, toNewWebhookView(await webhooks.create(caller, settings), links))
    },
    getWebhook: async ({ caller, params }) =>
      json(200, toWebhookView(await webhooks.get(caller, params.webhook_id), links)),
    updateWebhook: async ({ caller, params, body }) => {
      const { url, targetValId, ...rest } = body
      const target = toTarget({ url, targetValId })
      const change = { ...rest, ...(target && { target }) }
      return json(
        200,
        toWebhookView(await webhooks.update(caller, params.webhook_id, change), links),
      )
    },
    deleteWebhook: done(({ caller, params }) => webhooks.delete(caller, params.webhook_id)),
    rotateWebhookSecret: async ({ caller, params }) =>
      json(200, toNewWebhookView(await webhooks.rotateSecret(caller, params.webhook_id), links)),
    testWebhook: async ({ caller, params }) =>
      json(202, toDeliveryView(await deliveries.sendTest(caller, params.webhook_id), links)),
    listDeliveries: listOf(
      links,
      ({ caller, params, query }) =>
        deliveries.list(caller, params.webhook_id, query.status, query),
      toDeliveryView,
    ),
    getDelivery: async ({ caller, params: { webhook_id, delivery_id } }) =>
      json(200, toDeliveryDetailView(await deliveries.get(caller, webhook_id, delivery_id), links)),
    retryDelivery: async ({ caller, params: { webhook_id, delivery_id } }) =>
      json(202, toDeliveryView(await deliveries.retry(caller, webhook_id, delivery_id), links)),
  } satisfies Partial<Handlers>
}

/** The schema has made sure that there is at most one of them. */
function toTarget(body: {
  readonly url?: string | undefined
  readonly targetValId?: string | undefined
}): WebhookTarget | undefined {
  const { url, targetValId } = body
  if (url !== undefined) return { url, targetValId: null }
  return targetValId === undefined ? undefined : { url: null, targetValId }
}

const toWebhookView = createView(webhook, (it: Webhook, links: Links) => ({
  links: { self: links.webhook(it.id), deliveries: `${links.webhook(it.id)}/deliveries` },
}))

function toNewWebhookView(it: ShownWebhook, links: Links): z.infer<typeof newWebhook> {
  return { ...toWebhookView(it.webhook, links), secret: it.secret }
}

const toDeliveryFields = (it: Delivery, links: Links) => ({
  links: { self: `${links.webhook(it.webhookId)}/deliveries/${it.id}` },
})

const toDeliveryView = createView(delivery, toDeliveryFields)

const toDeliveryDetailView = createView(deliveryDetail, (it: DeliveryDetail, links: Links) => ({
  ...toDeliveryFields(it, links),
  payload: toOwnJson(toEventPayload(it.message, links)),
}))
