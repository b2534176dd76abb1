import type { Cipher, Sealed } from "../secrets/cipher.ts"

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

/** Encrypts the secrets. Those of one webhook cannot be decrypted as those of another. */
export function sealWebhookSecrets(
  cipher: Cipher,
  webhookId: string,
  secrets: WebhookSecrets,
): Sealed {
  return cipher.seal(JSON.stringify(secrets), `webhook:${webhookId}`)
}

/** Decrypts the secrets. */
export function openWebhookSecrets(
  cipher: Cipher,
  webhookId: string,
  sealed: Sealed,
): WebhookSecrets {
  return JSON.parse(cipher.open(sealed, `webhook:${webhookId}`)) as WebhookSecrets
}
