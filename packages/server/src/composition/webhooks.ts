import type { Allowances } from "../domain/limits/allowances.ts"
import type { QueueRoom } from "../domain/queue/run-queue.ts"
import { createRetentionCounts } from "../domain/runs/live-runs.ts"
import type { Cipher } from "../domain/secrets/cipher.ts"
import type { WebhookClient } from "../domain/webhooks/deliveries.ts"
import type { MessageLinks } from "../domain/webhooks/events.ts"
import { type DeliveryOutcome, sendDelivery } from "../domain/webhooks/send-delivery.ts"
import { OutboxWorker } from "../jobs/outbox-worker.ts"
import { Counter } from "../shared/counter.ts"
import { createOutbox } from "../storage/outbox/outbox.ts"
import { createDeliveryStore } from "../storage/webhooks/deliveries.ts"
import { createWebhookStore } from "../storage/webhooks/webhooks.ts"
import type { Foundation } from "./foundation.ts"

const limits = {
  /** What a server that was killed had in flight is sent by another one after this time. */
  leaseMs: 20_000,
  renewMs: 6_000,
  /**
   * Deliveries at the same time on one node, and of one owner: a few owners whose receivers hang
   * must not delay the others.
   */
  concurrencyMax: 128,
  perOwnerMax: 8,
  /** How often to look for events whose notice was lost. */
  pollMs: 2_000,
  stopMs: 1_000,
  /** A webhook that had so many deliveries is checked for those beyond its limit. */
  deliveriesBetween: 100,
  idsMax: 100_000,
}

/** Webhooks: subscriptions, and the messages to them. */
export function createWebhooks(
  { db, now, newId, onError }: Foundation,
  deps: {
    readonly cipher: Cipher
    readonly links: MessageLinks
    readonly queue: { wake(): void }
    readonly allowances: Allowances
    readonly queueRoom: QueueRoom
  },
  webhookClient: WebhookClient,
) {
  const outbox = createOutbox(db, {
    table: "webhook_deliveries",
    owner: "owner_id",
    hasLanes: true,
    leaseMs: limits.leaseMs,
    perOwnerMax: limits.perOwnerMax,
  })
  const deliveries = createDeliveryStore(db, outbox)
  const deliveryCounts = new Counter<DeliveryOutcome>()
  const deliveriesPerWebhook = createRetentionCounts({
    between: limits.deliveriesBetween,
    idsMax: limits.idsMax,
  })
  const sending = {
    ...{ ...deps, deliveries, webhookClient, now, newId },
    noteDelivery(webhookId: string, outcome: DeliveryOutcome) {
      deliveryCounts.increment(outcome)
      if (outcome !== "retried") deliveriesPerWebhook.note(webhookId)
    },
  }
  const webhookWork = new OutboxWorker({
    outbox,
    send: (claim, signal) => sendDelivery(sending, claim, signal),
    ...{ concurrencyMax: limits.concurrencyMax, pollMs: limits.pollMs },
    ...{ renewMs: limits.renewMs, stopMs: limits.stopMs, onError },
  })
  return {
    webhooks: createWebhookStore(db),
    deliveries,
    async readSentEvents() {
      const waiting = await outbox.stats().catch(() => undefined)
      return waiting && { outcomes: deliveryCounts.list(), waiting }
    },
    deliveriesPerWebhook,
    webhookClient,
    webhookWork,
  }
}
