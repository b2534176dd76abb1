import { route } from "../route.ts"
import { pageQuery } from "../schemas/inputs.ts"
import { page } from "../schemas/records.ts"
import {
  createWebhookBody,
  deliveriesQuery,
  delivery,
  deliveryDetail,
  newWebhook,
  updateWebhookBody,
  webhook,
} from "../schemas/webhooks.ts"

/** The caller's webhooks and what was sent to them. */
export const webhookRoutes = {
  listWebhooks: route("Webhooks", "get /v1/me/webhooks", {
    summary: "The caller's webhooks, newest first",
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(webhook) },
  }),
  createWebhook: route("Webhooks", "post /v1/me/webhooks", {
    summary:
      "Subscribe a URL, or a val of the caller, to events; only this response shows the secret",
    scope: "user:write",
    body: createWebhookBody,
    responses: { 201: newWebhook },
    errors: ["too_many_webhooks", "webhook_url_refused", "val_not_found", "not_owner"],
  }),
  getWebhook: route("Webhooks", "get /v1/me/webhooks/{webhook_id}", {
    summary: "A webhook",
    scope: "user:read",
    responses: { 200: webhook },
  }),
  updateWebhook: route("Webhooks", "put /v1/me/webhooks/{webhook_id}", {
    summary: "Change a webhook; absent fields keep their value",
    scope: "user:write",
    body: updateWebhookBody,
    responses: { 200: webhook },
    errors: ["webhook_url_refused", "val_not_found", "not_owner"],
  }),
  deleteWebhook: route("Webhooks", "delete /v1/me/webhooks/{webhook_id}", {
    summary: "Delete a webhook and its deliveries",
    scope: "user:write",
    responses: { 204: null },
  }),
  rotateWebhookSecret: route("Webhooks", "post /v1/me/webhooks/{webhook_id}/secret", {
    summary:
      "Replace the secret; for a day, messages are signed with the previous one too. Only this response shows the secret",
    scope: "user:write",
    responses: { 200: newWebhook },
    errors: ["secret_key_missing"],
  }),
  testWebhook: route("Webhooks", "post /v1/me/webhooks/{webhook_id}/test", {
    summary: "Send a message of type `webhook.test`",
    scope: "user:write",
    responses: { 202: delivery },
  }),
  listDeliveries: route("Webhooks", "get /v1/me/webhooks/{webhook_id}/deliveries", {
    summary: "What was sent to a webhook, newest first",
    scope: "user:read",
    query: deliveriesQuery,
    responses: { 200: page(delivery) },
  }),
  getDelivery: route("Webhooks", "get /v1/me/webhooks/{webhook_id}/deliveries/{delivery_id}", {
    summary: "A delivery with its last request and response",
    scope: "user:read",
    responses: { 200: deliveryDetail },
  }),
  retryDelivery: route(
    "Webhooks",
    "post /v1/me/webhooks/{webhook_id}/deliveries/{delivery_id}/retry",
    {
      summary: "Send a message again, with the same id",
      scope: "user:write",
      responses: { 202: delivery },
    },
  ),
}
