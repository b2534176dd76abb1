import type { delivery, deliveryDetail, WebhookStatus } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import { makeOnce, RateLimited } from "@hamlet/kit"
import type { Caller } from "../access/caller.ts"
import { AppError } from "../app-error.ts"
import type { Claim } from "../claims.ts"
import type { Clock } from "../clock.ts"
import type { NewQueuedRun } from "../queue/queue-store.ts"
import type { Stored } from "../records/stored.ts"
import type { Sealed } from "../secrets/cipher.ts"
import type { Message } from "./events.ts"
import { type Webhooks, webhookNotFound } from "./webhooks.ts"

/** A message to a webhook, as lists show it. */
export type Delivery = Omit<Stored<typeof delivery>, "links">

/** A message with its content and its last attempts. */
export interface DeliveryDetail extends Omit<Shown, "links" | "payload"> {
  readonly message: Message
}

type Shown = Stored<typeof deliveryDetail>

/** Names and values. */
export type HeaderPairs = SentRequest["headers"]

/** The request of an attempt, as it is shown. */
export type SentRequest = NonNullable<Shown["request"]>

/** The response of a receiver, within limits. */
export type ReceiverResponse = NonNullable<Shown["response"]>

/** One attempt, in the list of a delivery. */
export type Attempt = Shown["attemptList"][number]

/** A claimed message, with what is needed to send it. */
export interface DueDelivery {
  readonly message: Message
  readonly depth: number
  /** Since when it has been tried, by the clock of the database, and that clock now. */
  readonly triedSince: number
  readonly now: number
  /** Sent by hand, so that it is sent even if the webhook is paused. */
  readonly isManual: boolean
  readonly isOwnerSuspended: boolean
  readonly attemptList: readonly Attempt[]
  readonly webhook: {
    readonly id: string
    readonly ownerId: string
    readonly status: WebhookStatus
    readonly url: string | null
    readonly targetValId: string | null
    /** The file of that val that had its code when the webhook was set; null: the entry file. */
    readonly targetFileId: string | null
    readonly sealed: Sealed
  }
}

/** What an attempt to reach a URL has led to. */
export interface SendOutcome {
  readonly request: SentRequest
  /** Null when there was none. */
  readonly response: ReceiverResponse | null
  /** Why the attempt has failed, as a sentence; null when it was a success. */
  readonly error: string | null
  /** How long to wait at least, if the receiver has said so. */
  readonly retryAfterMs?: number | undefined
}

/** The end of an attempt, as it is stored. */
export interface RecordedAttempt {
  readonly request: SentRequest | null
  readonly response: ReceiverResponse | null
  readonly error: string | null
  readonly attemptList: readonly Attempt[]
  /** Whether the receiver was tried: its failures are counted. */
  readonly isTried: boolean
  /** When the next attempt is due; undefined when there is none. */
  readonly delayMs: number | undefined
  /** The receiver wants no more messages: the webhook is disabled. */
  readonly isGone: boolean
}

/** Stores deliveries, and the outcomes of their attempts. */
export interface DeliveryStore {
  list(
    ownerId: string,
    webhookId: string,
    status: Delivery["status"] | undefined,
    page: PageRequest,
  ): Promise<Page<Delivery>>
  find(ownerId: string, webhookId: string, id: string): Promise<DeliveryDetail | undefined>
  /** Undefined when there is no such webhook, `full` when too many messages wait for it. */
  addTest(ownerId: string, webhookId: string, id: string): Promise<Delivery | "full" | undefined>
  retry(ownerId: string, webhookId: string, id: string): Promise<Delivery | undefined>
  findDue(id: string): Promise<DueDelivery | undefined>
  /** Deletes a message whose webhook is gone. */
  drop(claim: Claim): Promise<void>
  /** The delivery is due again after the delay, or has ended. Failures for days disable the webhook. */
  record(claim: Claim, webhookId: string, attempt: RecordedAttempt): Promise<void>
  /** Queues a run of the val in the transaction that ends the delivery. */
  startRun(claim: Claim, run: WebhookRun, attempt: RecordedAttempt): Promise<void>
  /** Deletes some deliveries that ended before; true if there may be more. */
  purgeOlder(keptMs: number, countMax: number): Promise<boolean>
  /** Deletes some deliveries of a webhook beyond the newest ones; true if there may be more. */
  purgeBeyond(webhookId: string, keptMax: number, countMax: number): Promise<boolean>
}

/** A run that an event starts. */
export interface WebhookRun {
  readonly id: string
  readonly valId: string
  readonly file?: NewQueuedRun["file"]
  readonly ownerId: string
  readonly depth: number
  readonly args: readonly unknown[]
}

/** Sends requests to the URLs of webhooks. */
export interface WebhookClient {
  /** Why no request to the URL would be sent, as words that follow a colon. */
  findFault(url: string, ownerId: string): Promise<string | undefined>
  post(request: WebhookRequest): Promise<SendOutcome>
}

/** A request to a receiver. */
export interface WebhookRequest {
  readonly url: string
  readonly ownerId: string
  readonly headers: HeaderPairs
  readonly body: string
  /** For receivers that are vals of this server. */
  readonly depth: number
  readonly signal: AbortSignal
}

/** How long to wait when too many messages wait for a receiver. */
const fullSeconds = 60

/** The rules of deliveries. */
export type Deliveries = ReturnType<typeof createDeliveries>

/** Creates the rules of deliveries. `sending` is woken when a message waits. */
export function createDeliveries(
  store: DeliveryStore,
  webhooks: Webhooks,
  sending: { wake(): void },
  { newId }: Pick<Clock, "newId">,
) {
  return {
    /** What was sent to a webhook of the caller. */
    async list(
      caller: Caller,
      webhookId: string,
      status: Delivery["status"] | undefined,
      page: PageRequest,
    ): Promise<Page<Delivery>> {
      await webhooks.get(caller, webhookId)
      return store.list(caller.ownerId, webhookId, status, page)
    },
    /** A delivery of a webhook of the caller. */
    async get(caller: Caller, webhookId: string, id: string): Promise<DeliveryDetail> {
      await webhooks.get(caller, webhookId)
      const delivery = await store.find(caller.ownerId, webhookId, id)
      if (!delivery) throw deliveryNotFound(id)
      return delivery
    },
    /** Makes a message due at once, with all of its attempts. */
    async retry(caller: Caller, webhookId: string, id: string): Promise<Delivery> {
      await webhooks.get(caller, webhookId)
      const delivery = await store.retry(caller.ownerId, webhookId, id)
      if (!delivery) throw deliveryNotFound(id)
      sending.wake()
      return delivery
    },
    /** Sends a message that says that it is a test. */
    async sendTest(caller: Caller, webhookId: string): Promise<Delivery> {
      const delivery = await store.addTest(caller.ownerId, webhookId, makeOnce(newId))
      if (!delivery) throw webhookNotFound(webhookId)
      if (delivery === "full")
        throw new RateLimited(
          fullSeconds,
          "Cannot send a test: too many messages wait for this webhook;",
        )
      sending.wake()
      return delivery
    },
  }
}

function deliveryNotFound(id: string): AppError {
  return new AppError("delivery_not_found", `Cannot find delivery "${id}"`)
}
