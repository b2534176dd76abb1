import { Counter, traceTask } from "@hamlet/kit"
import type { SentStats } from "../domain/claims.ts"
import { createRetentionCounts } from "../domain/runs/live-runs.ts"
import type { Cipher } from "../domain/secrets/cipher.ts"
import type { Vals } from "../domain/vals/vals.ts"
import { createDeliveries, type WebhookClient } from "../domain/webhooks/deliveries.ts"
import type { MessageLinks } from "../domain/webhooks/events.ts"
import {
  createDeliverySender,
  type DeliveryOutcome,
  type RunAdder,
} from "../domain/webhooks/send-delivery.ts"
import { createWebhooks } from "../domain/webhooks/webhooks.ts"
import { ClaimWorker } from "../jobs/claim-worker.ts"
import { createRowClaims } from "../storage/claims/row-claims.ts"
import { createDeliveryStore } from "../storage/webhooks/deliveries.ts"
import type { Foundation } from "./foundation.ts"
import type { Stores } from "./stores.ts"

const limits = {
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
export function composeWebhooks(
  foundation: Foundation,
  stores: Stores,
  vals: Vals,
  cipher: Cipher,
  client: WebhookClient,
  links: MessageLinks,
  runs: RunAdder,
) {
  const { db, nodeId, onErrorOf } = foundation
  const claims = createRowClaims(db, {
    table: "webhook_deliveries",
    owner: "owner_id",
    hasLanes: true,
    nodeId,
    perOwnerMax: limits.perOwnerMax,
  })
  const deliveryStore = createDeliveryStore(db, claims)
  const counts = new Counter<DeliveryOutcome>()
  const { deliveriesBetween: between, idsMax } = limits
  const deliveriesPerWebhook = createRetentionCounts({ between, idsMax })
  const note = (webhookId: string, outcome: DeliveryOutcome) => {
    counts.increment(outcome)
    if (outcome !== "retried") deliveriesPerWebhook.note(webhookId)
  }
  const sender = createDeliverySender({
    store: deliveryStore,
    client,
    cipher,
    links,
    runs,
    note,
    clock: foundation,
  })
  const { concurrencyMax, pollMs, stopMs } = limits
  const worker = new ClaimWorker({
    claims,
    work: traceTask(foundation, "webhook delivery", "client", sender.send),
    concurrencyMax,
    pollMs,
    stopMs,
    onError: onErrorOf("webhooks"),
  })
  const webhooks = createWebhooks(stores.webhooks, client, vals, cipher, foundation)
  return {
    webhooks,
    deliveries: createDeliveries(deliveryStore, webhooks, worker, foundation),
    deliveryStore,
    deliveriesPerWebhook,
    worker,
    /** For the metrics; undefined when the database does not say. */
    async readSentEvents(): Promise<SentStats | undefined> {
      const waiting = await claims.stats().catch(() => undefined)
      return waiting && { outcomes: counts.list(), ...waiting }
    },
  }
}
