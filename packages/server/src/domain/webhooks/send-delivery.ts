import { AppError } from "../app-error.ts"
import { depthMax } from "../egress.ts"
import type { Allowances } from "../limits/allowances.ts"
import { type Backoff, type OutboxClaim, type OutboxStats, toRetryDelayMs } from "../outbox.ts"
import type { QueueRoom } from "../queue/run-queue.ts"
import type { Cipher } from "../secrets/cipher.ts"
import type {
  Attempt,
  DeliveryStore,
  DueDelivery,
  HeaderPairs,
  RecordedAttempt,
  SendOutcome,
  WebhookClient,
} from "./deliveries.ts"
import { type MessageLinks, toEventPayload } from "./events.ts"
import { signMessage } from "./signature.ts"
import { listValidSecrets, openWebhookSecrets } from "./webhook-secrets.ts"

/** What sending needs. */
export interface SendDeps {
  readonly deliveries: DeliveryStore
  readonly webhookClient: WebhookClient
  readonly cipher: Cipher
  readonly links: MessageLinks
  readonly queue: { wake(): void }
  readonly allowances: Pick<Allowances, "takeRun">
  readonly queueRoom: QueueRoom
  newId(): string
  now(): number
  /** Counts a delivery that has ended, for retention and the metrics. */
  noteDelivery(webhookId: string, outcome: DeliveryOutcome): void
}

/** What the metrics count. */
export type DeliveryOutcome = "delivered" | "retried" | "failed"

/** What this server sends to webhooks. */
export interface SentEvents {
  /** Attempts of this node since its start. */
  readonly outcomes: readonly (readonly [DeliveryOutcome, number])[]
  /** The deliveries that wait, on all nodes. */
  readonly waiting: OutboxStats
}

const limits = {
  /** Entries in the list of attempts. */
  attemptsListed: 20,
  /** How late an attempt may be. */
  lateMs: 60 * 60 * 1000,
}

/** Retries for a day: after 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, and then every 3 hours. */
const webhookBackoff: Backoff = {
  firstMs: 5_000,
  factor: 4,
  delayMsMax: 3 * 60 * 60 * 1000,
  forMs: 24 * 60 * 60 * 1000,
}

/** Sends a claimed message once, and records what came of it. */
export async function sendDelivery(
  deps: SendDeps,
  claim: OutboxClaim,
  signal: AbortSignal,
): Promise<void> {
  const due = await deps.deliveries.findDue(claim.id)
  if (!due) return deps.deliveries.drop(claim)
  const refusal = findRefusal(due, claim)
  if (refusal !== undefined) return fail(deps, claim, due, refusal)
  const { url, targetValId } = due.webhook
  if (targetValId !== null) return startRun(deps, claim, due, targetValId)
  if (url !== null) return sendTo(deps, claim, due, url, signal)
}

/** Why the message is not sent at all. */
function findRefusal(due: DueDelivery, { attempts }: OutboxClaim): string | undefined {
  const { webhook, isManual, isOwnerSuspended, depth, triedSince, now } = due
  // Its attempts have ended without an outcome: their server died, or has an error.
  if (attempts > 1 && now - triedSince > webhookBackoff.forMs + limits.lateMs)
    return "No attempt has succeeded within a day"
  if (isOwnerSuspended) return "The account is suspended"
  if (webhook.status !== "active" && !isManual) return `The webhook is ${webhook.status}`
  if (webhook.targetValId !== null && depth > depthMax)
    return `Vals and events have caused one another ${depthMax} times already`
  return undefined
}

async function sendTo(
  deps: SendDeps,
  claim: OutboxClaim,
  due: DueDelivery,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const { webhook, message, depth } = due
  const body = JSON.stringify(toEventPayload(message, deps.links))
  // Receivers compare the time with their own clocks.
  const at = deps.now()
  const secrets = listValidSecrets(openWebhookSecrets(deps.cipher, webhook.id, webhook.sealed), at)
  const signed = { id: claim.id, timestamp: Math.floor(at / 1000), body }
  const headers: HeaderPairs = [
    ["content-type", "application/json"],
    ["user-agent", "Hamlet-Webhooks/1.0"],
    ...signMessage(signed, secrets),
  ]
  const startedMs = performance.now()
  const outcome = await deps.webhookClient.post({
    ...{ url, headers, body, depth, signal },
    ownerId: webhook.ownerId,
  })
  const durationMs = Math.round(performance.now() - startedMs)
  await record(deps, claim, due, outcome, { at, durationMs })
}

async function record(
  deps: SendDeps,
  claim: OutboxClaim,
  due: DueDelivery,
  outcome: Pick<SendOutcome, "response" | "error" | "retryAfterMs"> &
    Pick<RecordedAttempt, "request">,
  { at, durationMs }: Pick<Attempt, "at" | "durationMs">,
): Promise<void> {
  const { request, response, error, retryAfterMs } = outcome
  const status = response?.status ?? null
  const attempt: RecordedAttempt = {
    ...{ request, response, error, isTried: true },
    attemptList: addAttempt(due, { at, durationMs, status, error }),
  }
  // The receiver says that it wants no more messages.
  const isGone = status === 410
  const age = due.now - due.triedSince
  const delayMs =
    error === null || isGone
      ? undefined
      : toRetryDelayMs(webhookBackoff, claim.attempts, age, retryAfterMs)
  if (delayMs === undefined) await deps.deliveries.end(claim, due.webhook.id, attempt, isGone)
  else await deps.deliveries.postpone(claim, due.webhook.id, attempt, delayMs)
  deps.noteDelivery(
    due.webhook.id,
    error === null ? "delivered" : delayMs === undefined ? "failed" : "retried",
  )
}

async function startRun(
  deps: SendDeps,
  claim: OutboxClaim,
  due: DueDelivery,
  valId: string,
): Promise<void> {
  const { webhook, message, depth } = due
  const event = { id: claim.id, ...toEventPayload(message, deps.links) }
  const run = { id: deps.newId(), valId, ownerId: webhook.ownerId, depth, args: [event] }
  const at = deps.now()
  const refusal = await findRunRefusal(deps, webhook.ownerId)
  if (refusal !== undefined) {
    const outcome = { request: null, response: null, error: refusal }
    return record(deps, claim, due, outcome, { at, durationMs: 0 })
  }
  const attempt: RecordedAttempt = {
    ...{ request: null, response: null, error: null, isTried: true },
    attemptList: addAttempt(due, { at, durationMs: 0, status: null, error: null }),
  }
  await deps.deliveries.startRun(claim, run, attempt)
  deps.queue.wake()
  deps.noteDelivery(webhook.id, "delivered")
}

/** Why the owner cannot queue another run now. */
async function findRunRefusal({ allowances, queueRoom }: SendDeps, ownerId: string) {
  try {
    allowances.takeRun(ownerId)
    await queueRoom.take(ownerId)
    return undefined
  } catch (error) {
    if (error instanceof AppError && ["rate_limited", "queue_full"].includes(error.code))
      return error.message
    throw error
  }
}

/** Ends the delivery without an attempt. */
async function fail(
  deps: SendDeps,
  claim: OutboxClaim,
  due: DueDelivery,
  error: string,
): Promise<void> {
  const attempt: RecordedAttempt = {
    ...{ request: null, response: null, error, isTried: false },
    attemptList: addAttempt(due, { at: deps.now(), durationMs: 0, status: null, error }),
  }
  await deps.deliveries.end(claim, due.webhook.id, attempt, false)
  deps.noteDelivery(due.webhook.id, "failed")
}

function addAttempt({ attemptList }: DueDelivery, attempt: Attempt): readonly Attempt[] {
  return [...attemptList, attempt].slice(-limits.attemptsListed)
}
