import {
  createWebhook,
  deleteWebhook,
  getDelivery,
  getWebhook,
  listDeliveries,
  retryDelivery,
  rotateSecret,
  testWebhook,
  updateWebhook,
  type WebhookSettings,
  type WebhookTarget,
} from "../../../domain/webhooks/webhooks.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { json, noContent } from "../../response/api-response.ts"
import { page } from "../../response/page.ts"
import {
  toDeliveryDetailView,
  toDeliveryView,
  toNewWebhookView,
  toWebhookView,
} from "../../response/webhook-views.ts"

/** The caller's webhooks and their deliveries. */
export function webhookHandlers({ webhooks, api: { links } }: Nouns) {
  return {
    listWebhooks: async ({ caller, query, request }) =>
      page(
        links,
        request,
        query,
        await webhooks.webhooks.list(caller.userId, query),
        toWebhookView,
      ),
    createWebhook: async ({ caller, body }) => {
      const settings: WebhookSettings = {
        target: toTarget(body) as WebhookTarget,
        events: body.events,
        valId: body.valId ?? null,
        description: body.description ?? null,
        isPaused: body.isPaused ?? false,
      }
      return json(201, toNewWebhookView(await createWebhook(webhooks, caller, settings), links))
    },
    getWebhook: async ({ caller, params }) =>
      json(200, toWebhookView(await getWebhook(webhooks, caller, params.webhook_id), links)),
    updateWebhook: async ({ caller, params, body }) => {
      const { url, targetValId, ...rest } = body
      const target = toTarget({ url, targetValId })
      const change = { ...rest, ...(target && { target }) }
      return json(
        200,
        toWebhookView(await updateWebhook(webhooks, caller, params.webhook_id, change), links),
      )
    },
    deleteWebhook: async ({ caller, params }) => {
      await deleteWebhook(webhooks, caller, params.webhook_id)
      return noContent()
    },
    rotateWebhookSecret: async ({ caller, params }) =>
      json(200, toNewWebhookView(await rotateSecret(webhooks, caller, params.webhook_id), links)),
    testWebhook: async ({ caller, params }) =>
      json(202, toDeliveryView(await testWebhook(webhooks, caller, params.webhook_id), links)),
    listDeliveries: async ({ caller, params, query, request }) =>
      page(
        links,
        request,
        query,
        await listDeliveries(webhooks, caller, params.webhook_id, query.status, query),
        toDeliveryView,
      ),
    getDelivery: async ({ caller, params: { webhook_id, delivery_id } }) =>
      json(
        200,
        toDeliveryDetailView(await getDelivery(webhooks, caller, webhook_id, delivery_id), links),
      ),
    retryDelivery: async ({ caller, params: { webhook_id, delivery_id } }) =>
      json(
        202,
        toDeliveryView(await retryDelivery(webhooks, caller, webhook_id, delivery_id), links),
      ),
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
