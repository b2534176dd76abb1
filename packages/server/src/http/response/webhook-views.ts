import type { delivery, deliveryDetail, newWebhook, webhook, webhookVal } from "@hamlet/contract"
import type { z } from "zod"
import type { Delivery, DeliveryDetail, HeaderPairs } from "../../domain/webhooks/deliveries.ts"
import { type EventVal, toEventPayload } from "../../domain/webhooks/events.ts"
import type { ShownWebhook, Webhook } from "../../domain/webhooks/webhooks.ts"
import type { Links } from "./links.ts"

/** A webhook without its secret. */
export function toWebhookView(it: Webhook, links: Links): z.infer<typeof webhook> {
  const self = links.webhook(it.id)
  return {
    id: it.id,
    url: it.url,
    targetVal: it.targetVal && toValView(it.targetVal),
    events: [...it.events],
    valId: it.valId,
    val: it.val && toValView(it.val),
    description: it.description,
    status: it.status,
    disabledReason: it.disabledReason,
    failingSince: toTime(it.failingSince),
    droppedEvents: it.droppedEvents,
    previousSecretUntil: toTime(it.previousSecretUntil),
    createdAt: new Date(it.createdAt).toISOString(),
    updatedAt: new Date(it.updatedAt).toISOString(),
    links: { self, deliveries: `${self}/deliveries` },
  }
}

/** A webhook with its new secret. */
export function toNewWebhookView(it: ShownWebhook, links: Links): z.infer<typeof newWebhook> {
  return { ...toWebhookView(it.webhook, links), secret: it.secret }
}

/** A delivery in a list. */
export function toDeliveryView(it: Delivery, links: Links): z.infer<typeof delivery> {
  return {
    id: it.id,
    webhookId: it.webhookId,
    type: it.type,
    status: it.status,
    attempts: it.attempts,
    createdAt: new Date(it.createdAt).toISOString(),
    nextAttemptAt: toTime(it.nextAttemptAt),
    endedAt: toTime(it.endedAt),
    responseStatus: it.responseStatus,
    error: it.error,
    runId: it.runId,
    links: { self: `${links.webhook(it.webhookId)}/deliveries/${it.id}` },
  }
}

/** A delivery with its content and its attempts. */
export function toDeliveryDetailView(
  it: DeliveryDetail,
  links: Links,
): z.infer<typeof deliveryDetail> {
  const { request, response } = it
  return {
    ...toDeliveryView(it, links),
    payload: JSON.stringify(toEventPayload(it.message, links)),
    request: request && { url: request.url, headers: toHeadersView(request.headers) },
    response: response && {
      status: response.status,
      headers: toHeadersView(response.headers),
      body: response.body,
      isTruncated: response.isTruncated,
      durationMs: response.durationMs,
    },
    attemptList: it.attemptList.map(({ at, durationMs, status, error }) => ({
      at: new Date(at).toISOString(),
      durationMs,
      status,
      error,
    })),
  }
}

function toValView({ id, name, username }: EventVal): z.infer<typeof webhookVal> {
  return { id, name, username }
}

function toHeadersView(headers: HeaderPairs): [string, string][] {
  return headers.map(([name, value]) => [name, value])
}

function toTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
