import { type WebhookStatus, limits as wire } from "@hamlet/contract"
import { makeOnce } from "../../shared/once.ts"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import { RateLimited } from "../limits/rate-limit.ts"
import type { Page, PageRequest } from "../paging.ts"
import type { Cipher, Sealed } from "../secrets/cipher.ts"
import { assertOwner, getVal, type ValStore, valNotFound } from "../vals/vals.ts"
import type { Delivery, DeliveryDetail, DeliveryStore, WebhookClient } from "./deliveries.ts"
import type { EventType, EventVal } from "./events.ts"
import { makeWebhookSecret } from "./signature.ts"
import { openWebhookSecrets, sealWebhookSecrets } from "./webhook-secrets.ts"

/** A subscription to events, without its secret. */
export interface Webhook {
  readonly id: string
  readonly ownerId: string
  /** Null when a val is called. */
  readonly url: string | null
  readonly targetVal: EventVal | null
  readonly events: readonly EventType[]
  /** Only events of this val; null for all vals of the owner. */
  readonly valId: string | null
  /** Null also when that val was deleted. */
  readonly val: EventVal | null
  readonly description: string | null
  readonly status: WebhookStatus
  readonly disabledReason: string | null
  readonly failingSince: number | null
  readonly droppedEvents: number
  readonly previousSecretUntil: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** Where events go. */
export type WebhookTarget =
  | { readonly url: string; readonly targetValId: null }
  | { readonly url: null; readonly targetValId: string }

/** What the owner chooses. */
export interface WebhookSettings {
  readonly target: WebhookTarget
  readonly events: readonly EventType[]
  readonly valId: string | null
  readonly description: string | null
  readonly isPaused: boolean
}

/** What the owner changes. */
export type WebhookChange = {
  readonly [Name in keyof WebhookSettings]?: WebhookSettings[Name] | undefined
}

/** A webhook that is about to be stored. */
export interface NewWebhook extends WebhookSettings {
  readonly id: string
  readonly ownerId: string
  readonly sealed: Sealed
  readonly at: number
}

/** The encrypted secrets of a webhook. */
export interface SealedWebhook {
  readonly id: string
  readonly sealed: Sealed
}

/** Stores webhooks. */
export interface WebhookStore {
  list(ownerId: string, page: PageRequest): Promise<Page<Webhook>>
  find(ownerId: string, id: string): Promise<Webhook | undefined>
  /** `full` when the owner has `countMax` others; undefined when the val that it calls is gone. */
  create(webhook: NewWebhook, countMax: number): Promise<Webhook | "full" | undefined>
  /** `isPaused: false` also enables a disabled webhook. Undefined when it, or its val, is gone. */
  change(
    ownerId: string,
    id: string,
    change: WebhookChange,
    at: number,
  ): Promise<Webhook | undefined>
  /** Deletes it with its deliveries. False when there is none. */
  remove(ownerId: string, id: string): Promise<boolean>
  /** Replaces the secrets by what `rotate` makes of them. */
  rotate(
    ownerId: string,
    id: string,
    rotate: (sealed: Sealed) => { readonly sealed: Sealed; readonly previousUntil: number },
    at: number,
  ): Promise<Webhook | undefined>
  /** Some webhooks whose secrets are not encrypted with this key. */
  listOtherKeys(keyId: string, countMax: number): Promise<readonly SealedWebhook[]>
  /** Replaces the encrypted secrets, unless they were changed since they were read. */
  reseal(webhook: SealedWebhook, sealed: Sealed): Promise<void>
}

/** What the rules of webhooks need. */
export interface WebhookDeps {
  readonly webhooks: WebhookStore
  readonly deliveries: DeliveryStore
  readonly webhookClient: Pick<WebhookClient, "findFault">
  readonly vals: ValStore
  readonly cipher: Cipher
  /** Sends what is stored; `wake` after something was. */
  readonly webhookWork: { start(): void; wake(): void; stop(): Promise<void> }
  newId(): string
  now(): number
}

const limits = {
  /** How long messages are signed with the previous secret too. */
  overlapMs: 24 * 60 * 60 * 1000,
  /** How long to wait when too many messages wait for a receiver. */
  fullSeconds: 60,
}

/** A webhook, and the secret that is shown once. */
export interface ShownWebhook {
  readonly webhook: Webhook
  readonly secret: string
}

/** Subscribes a URL, or a val of the caller, to events. */
export async function createWebhook(
  deps: WebhookDeps,
  caller: Caller,
  settings: WebhookSettings,
): Promise<ShownWebhook> {
  await assertTargets(deps, caller, settings)
  const made = makeOnce(() => ({ id: deps.newId(), secret: makeWebhookSecret(), at: deps.now() }))
  const { id, secret, at } = made
  const sealed = sealWebhookSecrets(deps.cipher, id, { current: secret })
  const webhook = await deps.webhooks.create(
    { ...settings, id, ownerId: caller.userId, sealed, at },
    wire.webhooksPerUserMax,
  )
  if (webhook === "full")
    throw new AppError(
      "too_many_webhooks",
      `Cannot add a webhook: you have ${wire.webhooksPerUserMax} already`,
    )
  if (!webhook) throw valNotFound(settings.target.targetValId ?? "")
  return { webhook, secret }
}

/** A webhook of the caller. */
export async function getWebhook(
  deps: Pick<WebhookDeps, "webhooks">,
  caller: Caller,
  id: string,
): Promise<Webhook> {
  const webhook = await deps.webhooks.find(caller.userId, id)
  if (!webhook) throw webhookNotFound(id)
  return webhook
}

/** Changes a webhook of the caller; what is absent stays as it is. */
export async function updateWebhook(
  deps: WebhookDeps,
  caller: Caller,
  id: string,
  change: WebhookChange,
): Promise<Webhook> {
  await getWebhook(deps, caller, id)
  await assertTargets(deps, caller, change)
  const webhook = await deps.webhooks.change(caller.userId, id, change, deps.now())
  if (!webhook) throw webhookNotFound(id)
  return webhook
}

/** Deletes a webhook of the caller. */
export async function deleteWebhook(
  deps: Pick<WebhookDeps, "webhooks">,
  caller: Caller,
  id: string,
): Promise<void> {
  if (!(await deps.webhooks.remove(caller.userId, id))) throw webhookNotFound(id)
}

/** Replaces the secret. Messages are signed with both until receivers have the new one. */
export async function rotateSecret(
  deps: WebhookDeps,
  caller: Caller,
  id: string,
): Promise<ShownWebhook> {
  const { secret, at } = makeOnce(() => ({ secret: makeWebhookSecret(), at: deps.now() }))
  const previousUntil = at + limits.overlapMs
  const rotate = (sealed: Sealed) => {
    const { current } = openWebhookSecrets(deps.cipher, id, sealed)
    return {
      sealed: sealWebhookSecrets(deps.cipher, id, {
        current: secret,
        previous: current,
        previousUntil,
      }),
      previousUntil,
    }
  }
  const webhook = await deps.webhooks.rotate(caller.userId, id, rotate, at)
  if (!webhook) throw webhookNotFound(id)
  return { webhook, secret }
}

/** Sends a message that says that it is a test. */
export async function testWebhook(
  deps: WebhookDeps,
  caller: Caller,
  id: string,
): Promise<Delivery> {
  const delivery = await deps.deliveries.addTest(caller.userId, id, makeOnce(deps.newId))
  if (!delivery) throw webhookNotFound(id)
  if (delivery === "full")
    throw new RateLimited(
      limits.fullSeconds,
      "Cannot send a test: too many messages wait for this webhook;",
    )
  deps.webhookWork.wake()
  return delivery
}

/** What was sent to a webhook of the caller. */
export async function listDeliveries(
  deps: WebhookDeps,
  caller: Caller,
  id: string,
  status: Delivery["status"] | undefined,
  page: PageRequest,
): Promise<Page<Delivery>> {
  await getWebhook(deps, caller, id)
  return deps.deliveries.list(caller.userId, id, status, page)
}

/** A delivery of a webhook of the caller. */
export async function getDelivery(
  deps: WebhookDeps,
  caller: Caller,
  webhookId: string,
  id: string,
): Promise<DeliveryDetail> {
  await getWebhook(deps, caller, webhookId)
  const delivery = await deps.deliveries.find(caller.userId, webhookId, id)
  if (!delivery) throw deliveryNotFound(id)
  return delivery
}

/** Makes a message due at once, with all of its attempts. */
export async function retryDelivery(
  deps: WebhookDeps,
  caller: Caller,
  webhookId: string,
  id: string,
): Promise<Delivery> {
  await getWebhook(deps, caller, webhookId)
  const delivery = await deps.deliveries.retry(caller.userId, webhookId, id)
  if (!delivery) throw deliveryNotFound(id)
  deps.webhookWork.wake()
  return delivery
}

function deliveryNotFound(id: string): AppError {
  return new AppError("delivery_not_found", `Cannot find delivery "${id}"`)
}

function webhookNotFound(id: string): AppError {
  return new AppError("webhook_not_found", `Cannot find webhook "${id}"`)
}

/** Events are about own vals, and only own vals are called. */
async function assertTargets(
  deps: WebhookDeps,
  caller: Caller,
  { target, valId }: WebhookChange,
): Promise<void> {
  for (const id of [target?.targetValId, valId])
    if (id) assertOwner(await getVal(deps, caller, id), caller)
  const fault = target?.url && (await deps.webhookClient.findFault(target.url, caller.userId))
  if (fault)
    throw new AppError("webhook_url_refused", `Cannot send events to "${target.url}": ${fault}`)
}

/** Encrypts the secrets of all webhooks with the newest key, in batches. Returns their number. */
export async function resealWebhooks(
  { webhooks, cipher }: Pick<WebhookDeps, "webhooks" | "cipher">,
  batchMax = 100,
): Promise<number> {
  let count = 0
  for (;;) {
    const batch = await webhooks.listOtherKeys(cipher.keyId, batchMax)
    for (const webhook of batch) {
      const secrets = openWebhookSecrets(cipher, webhook.id, webhook.sealed)
      await webhooks.reseal(webhook, sealWebhookSecrets(cipher, webhook.id, secrets))
    }
    count += batch.length
    if (batch.length === 0) return count
  }
}
