import { type webhook, limits as wire } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import { makeOnce } from "@hamlet/kit"
import type { Caller } from "../access/caller.ts"
import { assertOfAccount, valNotFound } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"
import type { Cipher, Sealed } from "../secrets/cipher.ts"
import { resealAll } from "../secrets/secrets.ts"
import type { Vals } from "../vals/vals.ts"
import type { EventType } from "./events.ts"
import {
  makeWebhookSecret,
  openWebhookSecrets,
  sealWebhookSecrets,
  toWebhookPurpose,
} from "./signature.ts"

/** A subscription to events, without its secret. */
export interface Webhook extends Omit<Stored<typeof webhook>, "links"> {
  readonly ownerId: string
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

/** How long messages are signed with the previous secret too. */
const overlapMs = 24 * 60 * 60 * 1000

/** A webhook, and the secret that is shown once. */
export interface ShownWebhook {
  readonly webhook: Webhook
  readonly secret: string
}

/** The rules of webhooks. */
export type Webhooks = ReturnType<typeof createWebhooks>

/** Creates the rules of webhooks. */
export function createWebhooks(
  store: WebhookStore,
  client: { findFault(url: string, ownerId: string): Promise<string | undefined> },
  vals: Vals,
  cipher: Cipher,
  clock: Clock,
) {
  /** Events are about own vals, and only own vals are called. */
  const assertTargets = async (caller: Caller, { target, valId }: WebhookChange) => {
    for (const id of [target?.targetValId, valId])
      if (id) assertOfAccount(await vals.get(caller, id), caller, "use a webhook with")
    const fault = target?.url && (await client.findFault(target.url, caller.ownerId))
    if (fault)
      throw new AppError("webhook_url_refused", `Cannot send events to "${target.url}": ${fault}`)
  }
  const get = async ({ ownerId }: Caller, id: string) => found(await store.find(ownerId, id), id)
  return {
    /** A webhook of the caller. */
    get,
    /** The webhooks of the caller. */
    list: ({ ownerId }: Caller, page: PageRequest) => store.list(ownerId, page),
    /** Subscribes a URL, or a val of the caller, to events. */
    async create(caller: Caller, settings: WebhookSettings): Promise<ShownWebhook> {
      await assertTargets(caller, settings)
      const made = makeOnce(() => ({
        id: clock.newId(),
        secret: makeWebhookSecret(),
        at: clock.now(),
      }))
      const { id, secret, at } = made
      const sealed = sealWebhookSecrets(cipher, id, { current: secret })
      const created = { ...settings, id, ownerId: caller.ownerId, sealed, at }
      const webhook = await store.create(created, wire.webhooksPerUserMax)
      if (webhook === "full") throw tooManyWebhooks()
      if (!webhook) throw valNotFound(settings.target.targetValId ?? "")
      return { webhook, secret }
    },
    /** Changes a webhook of the caller; what is absent stays as it is. */
    async update(caller: Caller, id: string, change: WebhookChange): Promise<Webhook> {
      await get(caller, id)
      await assertTargets(caller, change)
      return found(await store.change(caller.ownerId, id, change, clock.now()), id)
    },
    /** Deletes a webhook of the caller. */
    async delete(caller: Caller, id: string): Promise<void> {
      if (!(await store.remove(caller.ownerId, id))) throw webhookNotFound(id)
    },
    /** Replaces the secret. Messages are signed with both until receivers have the new one. */
    async rotateSecret(caller: Caller, id: string): Promise<ShownWebhook> {
      const { secret, at } = makeOnce(() => ({ secret: makeWebhookSecret(), at: clock.now() }))
      const previousUntil = at + overlapMs
      const rotate = (sealed: Sealed) => {
        const { current: previous } = openWebhookSecrets(cipher, id, sealed)
        const secrets = { current: secret, previous, previousUntil }
        return { sealed: sealWebhookSecrets(cipher, id, secrets), previousUntil }
      }
      return { webhook: found(await store.rotate(caller.ownerId, id, rotate, at), id), secret }
    },
    /** Encrypts the secrets of all webhooks with the newest key, in batches. Returns their number. */
    reseal: (batchMax?: number) => resealAll(store, cipher, toWebhookPurpose, batchMax),
  }
}

function tooManyWebhooks(): AppError {
  return new AppError(
    "too_many_webhooks",
    `Cannot add a webhook: you have ${wire.webhooksPerUserMax} already`,
  )
}

function found<Item>(item: Item | undefined, id: string): Item {
  if (item === undefined) throw webhookNotFound(id)
  return item
}

/** The error for a webhook that the caller does not have. */
export function webhookNotFound(id: string): AppError {
  return new AppError("webhook_not_found", `Cannot find webhook "${id}"`)
}
