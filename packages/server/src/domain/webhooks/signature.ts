import { createHmac, randomBytes } from "node:crypto"

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
