import { createHmac, randomBytes } from "node:crypto"
import { parseOwnJson, toOwnJson } from "@hamlet/kit"
import type { Cipher, Sealed } from "../secrets/cipher.ts"

/** Marks a secret of a webhook, as the specification "Standard Webhooks" asks. */
const secretPrefix = "whsec_"
/** The specification allows 24 to 64 bytes. */
const secretBytes = 32

/** A new secret of a webhook. */
export function makeWebhookSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString("base64")
}

/** The message that is signed. */
export interface SignedMessage {
  readonly id: string
  /** In seconds. */
  readonly timestamp: number
  readonly body: string
}

/**
 * The headers that prove the origin of a message. It is signed with each secret: while a secret is
 * being replaced, a receiver may know only one of them.
 */
export function signMessage(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly string[],
): readonly (readonly [name: string, value: string])[] {
  const content = `${id}.${timestamp}.${body}`
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), "base64")
    return `v1,${createHmac("sha256", key).update(content).digest("base64")}`
  })
  return [
    ["webhook-id", id],
    ["webhook-timestamp", String(timestamp)],
    ["webhook-signature", signatures.join(" ")],
  ]
}

/** The secrets of a webhook. */
export interface WebhookSecrets {
  readonly current: string
  readonly previous?: string
  readonly previousUntil?: number
}

/** The secrets that a message is signed with at that time. */
export function listValidSecrets(
  { current, previous, previousUntil = 0 }: WebhookSecrets,
  at: number,
): readonly string[] {
  return previous !== undefined && at < previousUntil ? [current, previous] : [current]
}

/** Encrypts the secrets. */
export function sealWebhookSecrets(
  cipher: Cipher,
  webhookId: string,
  secrets: WebhookSecrets,
): Sealed {
  return cipher.seal(toOwnJson(secrets), toWebhookPurpose({ id: webhookId }))
}

/** Decrypts the secrets. */
export function openWebhookSecrets(
  cipher: Cipher,
  webhookId: string,
  sealed: Sealed,
): WebhookSecrets {
  return parseOwnJson(cipher.open(sealed, toWebhookPurpose({ id: webhookId }))) as WebhookSecrets
}

/** Authenticated by the cipher: the secrets of one webhook cannot be decrypted as another's. */
export function toWebhookPurpose({ id }: { readonly id: string }): string {
  return `webhook:${id}`
}
