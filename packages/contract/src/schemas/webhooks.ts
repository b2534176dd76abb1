import { z } from "zod"
import { limits } from "../limits.ts"
import { deliveryStatuses, eventTypes } from "../lists.ts"
import { id, idParam, isWebAddress, text, time, url, username, valName } from "./fields.ts"
import { pageQuery } from "./inputs.ts"
import { chars, list } from "./lengths.ts"

/** What owners can be told about their vals. */
export const eventType = z.enum(eventTypes)

/** What owners can be told about their vals. */
export type EventType = z.infer<typeof eventType>

/** The types of messages that a webhook receives: events, and the message of a test. */
export const messageType = z.enum([...eventType.options, "webhook.test"])

/** A val that a webhook refers to. */
export const webhookVal = z.object({ id, name: valName, username }).meta({ id: "WebhookVal" })

/** Whether a webhook gets events; `disabled` after it has failed for days. */
export const webhookStatus = z.enum(["active", "paused", "disabled"])

/** Whether a webhook gets events. */
export type WebhookStatus = z.infer<typeof webhookStatus>

/** A subscription: events are sent to a URL, or start a run of a val. */
export const webhook = z
  .object({
    id,
    // Null if a val is called.
    url: z.string().nullable(),
    // The val that is called with the event; null if the events go to a URL.
    targetVal: webhookVal.nullable(),
    events: z.array(eventType),
    // Only events of this val are sent; null for all of the caller's vals.
    valId: id.nullable(),
    // Null if there is no such val any more, or no limit to one.
    val: webhookVal.nullable(),
    description: z.string().nullable(),
    status: webhookStatus,
    // Why the server has disabled it, as a sentence.
    disabledReason: z.string().nullable(),
    // Since when every attempt has failed.
    failingSince: time.nullable(),
    // Events that were not sent because there were too many.
    droppedEvents: z.int().min(0),
    // Until when messages are also signed with the previous secret.
    previousSecretUntil: time.nullable(),
    createdAt: time,
    updatedAt: time,
    links: z.object({ self: url, deliveries: url }),
  })
  .meta({ id: "Webhook" })

/** A webhook with its secret, which no other response contains. */
export const newWebhook = webhook.extend({ secret: z.string() }).meta({ id: "NewWebhook" })

const targetUrl = chars(limits.webhookUrlCharsMax, 1).refine(
  (value) => isWebAddress(value) && !value.includes("#"),
  "must be an absolute http or https URL without a user name or a fragment",
)

const events = list(eventType, eventType.options.length, 1).transform((all) => [...new Set(all)])
const description = text(limits.webhookDescriptionCharsMax).nullable()

/** The body of a new webhook: a URL or a val, and the events. */
export const createWebhookBody = z
  .object({
    url: targetUrl.optional(),
    targetValId: idParam.optional(),
    events,
    valId: idParam.nullable().optional(),
    description: description.optional(),
    isPaused: z.boolean().optional(),
  })
  .refine(
    (body) => (body.url === undefined) !== (body.targetValId === undefined),
    "must have either url or targetValId",
  )

/** The body of a change to a webhook. `isPaused: false` also enables a disabled one again. */
export const updateWebhookBody = z
  .object({
    url: targetUrl.optional(),
    targetValId: idParam.optional(),
    events: events.optional(),
    valId: idParam.nullable().optional(),
    description: description.optional(),
    isPaused: z.boolean().optional(),
  })
  .refine(
    (body) => body.url === undefined || body.targetValId === undefined,
    "must not have both url and targetValId",
  )
  .refine(
    (body) => Object.values(body).some((value) => value !== undefined),
    "must have at least one of url, targetValId, events, valId, description, isPaused",
  )

/** `waiting` until it is delivered, or until the last attempt has failed. */
export const deliveryStatus = z.enum(deliveryStatuses)

/** The query of the list of deliveries. */
export const deliveriesQuery = pageQuery.extend({ status: deliveryStatus.optional() })

/** A message to a webhook. */
export const delivery = z
  .object({
    // The id is also the header `webhook-id`, in every attempt.
    id,
    webhookId: id,
    type: messageType,
    status: deliveryStatus,
    attempts: z.int().min(0),
    createdAt: time,
    nextAttemptAt: time.nullable(),
    endedAt: time.nullable(),
    // The status of the last response.
    responseStatus: z.int().nullable(),
    // Why the last attempt failed, as a sentence.
    error: z.string().nullable(),
    // The run of the val that was called.
    runId: id.nullable(),
    links: z.object({ self: url }),
  })
  .meta({ id: "Delivery" })

const headers = z.array(z.tuple([z.string(), z.string()]))

/** A message with its content and its attempts. */
export const deliveryDetail = delivery
  .extend({
    // The body of the request: JSON with `type`, `timestamp` and `data`.
    payload: z.string(),
    // The request and the response of the last attempt; null without one, and for vals.
    request: z.object({ url: z.string(), headers }).nullable(),
    response: z
      .object({
        status: z.int(),
        headers,
        body: z.string(),
        isTruncated: z.boolean(),
        durationMs: z.int().min(0),
      })
      .nullable(),
    // The last attempts, oldest first.
    attemptList: z.array(
      z.object({
        at: time,
        durationMs: z.int().min(0),
        status: z.int().nullable(),
        error: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "DeliveryDetail" })
