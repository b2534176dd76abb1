import { findRetryDelay, toOwnJson } from "@hamlet/kit"
import { depthMax } from "@hamlet/sandbox"
import { AppError } from "../app-error.ts"
import type { Claim } from "../claims.ts"
import type { Clock } from "../clock.ts"
import type { Allowances } from "../limits/allowances.ts"
import { type QueueRoom, takeQueuedRun } from "../queue/run-queue.ts"
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
import { webhookBackoff } from "./retries.ts"
import { listValidSecrets, openWebhookSecrets, signMessage } from "./signature.ts"

/** What the metrics count. */
export type DeliveryOutcome = "delivered" | "retried" | "failed"

const limits = {
  /** Entries in the list of attempts. */
  attemptsListed: 20,
  /** How late an attempt may be. */
  lateMs: 60 * 60 * 1000,
}

interface DeliverySenderParts {
  readonly store: DeliveryStore
  readonly client: WebhookClient
  readonly cipher: Cipher
  readonly links: MessageLinks
  readonly runs: RunAdder
  readonly note: (webhookId: string, outcome: DeliveryOutcome) => void
  readonly clock: Clock
}

/**
 * Creates the sender of messages. A webhook whose target is a val gets a run in the queue instead.
 * `note` counts an attempt that has ended, for retention and the metrics.
 */
export function createDeliverySender({
  store,
  client,
  cipher,
  links,
  runs,
  note,
  clock: { newId, now },
}: DeliverySenderParts) {
  const record = async (claim: Claim, due: DueDelivery, ended: EndedAttempt) => {
    const attempt = { ...toRecorded(due, ended), ...decideNext(claim, due, ended) }
    const { id } = due.webhook
    await store.record(claim, id, attempt)
    const isOver = attempt.delayMs === undefined
    note(id, ended.error === null ? "delivered" : isOver ? "failed" : "retried")
  }
  const post = async (claim: Claim, due: DueDelivery, url: string, signal: AbortSignal) => {
    const { webhook, message, depth } = due
    const body = toOwnJson(toEventPayload(message, links))
    // Receivers compare the time with their own clocks.
    const at = now()
    const secrets = listValidSecrets(openWebhookSecrets(cipher, webhook.id, webhook.sealed), at)
    const signed = { id: claim.id, timestamp: Math.floor(at / 1000), body }
    const headers = [...ownHeaders, ...signMessage(signed, secrets)]
    const { ownerId } = webhook
    const startedMs = performance.now()
    const outcome = await client.post({ url, headers, body, depth, signal, ownerId })
    const durationMs = Math.round(performance.now() - startedMs)
    await record(claim, due, { ...outcome, at, durationMs })
  }
  const startRun = async (claim: Claim, due: DueDelivery, valId: string) => {
    const { webhook, message, depth } = due
    const { ownerId } = webhook
    const event = { id: claim.id, ...toEventPayload(message, links) }
    const started = { ...notSent, at: now() }
    const error = await findRunRefusal(runs, ownerId)
    if (error !== null) return record(claim, due, { ...started, error })
    const { targetFileId } = webhook
    const file = targetFileId === null ? {} : { file: { id: targetFileId, branchId: valId } }
    const run = { id: newId(), valId, ...file, ownerId, depth, args: [event] }
    await store.startRun(claim, run, toRecorded(due, { ...started, error }))
    runs.queue.wake()
    note(webhook.id, "delivered")
  }
  return {
    /** Sends a claimed message once, and records what came of it. */
    async send(claim: Claim, signal: AbortSignal): Promise<void> {
      const due = await store.findDue(claim.id)
      if (!due) return store.drop(claim)
      const { id, url, targetValId } = due.webhook
      const error = findRefusal(due, claim)
      if (error !== undefined) {
        const attempt = { ...toRecorded(due, { ...notSent, error, at: now() }), isTried: false }
        await store.record(claim, id, attempt)
        return note(id, "failed")
      }
      if (targetValId !== null) return startRun(claim, due, targetValId)
      if (url !== null) return post(claim, due, url, signal)
    },
  }
}

/** Adds runs to the queue, within the limits of their account. */
export interface RunAdder {
  readonly queue: { wake(): void }
  readonly allowances: Pick<Allowances, "takeRun">
  readonly queueRoom: QueueRoom
}

/** An attempt that has ended. Nothing was sent if a val was called, or if it was refused. */
type EndedAttempt = Omit<SendOutcome, "request"> &
  Pick<RecordedAttempt, "request"> &
  Pick<Attempt, "at" | "durationMs">

const notSent = { request: null, response: null, durationMs: 0 }

const ownHeaders: HeaderPairs = [
  ["content-type", "application/json"],
  ["user-agent", "Hamlet-Webhooks/1.0"],
]

/** Why the message is not sent at all. */
function findRefusal(due: DueDelivery, { attempts }: Claim): string | undefined {
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

/** When to try again, if at all, and whether the receiver says that it wants no more messages. */
function decideNext({ attempts }: Claim, due: DueDelivery, ended: EndedAttempt) {
  const isGone = ended.response?.status === 410
  if (ended.error === null || isGone) return { isGone, delayMs: undefined }
  const age = { attempts, ageMs: due.now - due.triedSince, askedMs: ended.retryAfterMs }
  return { isGone, delayMs: findRetryDelay(webhookBackoff, age) }
}

function toRecorded({ attemptList }: DueDelivery, ended: EndedAttempt): RecordedAttempt {
  const { request, response, error, at, durationMs } = ended
  const attempt = { at, durationMs, status: response?.status ?? null, error }
  const listed = [...attemptList, attempt].slice(-limits.attemptsListed)
  const next = { delayMs: undefined, isGone: false }
  return { request, response, error, attemptList: listed, isTried: true, ...next }
}

/** Why the owner cannot queue another run now; null if they can. */
async function findRunRefusal({ allowances, queueRoom }: RunAdder, ownerId: string) {
  try {
    await takeQueuedRun(allowances, queueRoom, ownerId)
    return null
  } catch (error) {
    if (error instanceof AppError && ["rate_limited", "queue_full"].includes(error.code))
      return error.message
    throw error
  }
}
