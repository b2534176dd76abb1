import type { Item } from "@hamlet/contract/client"
import { Mark } from "../parts/badges.tsx"
import { MadeBox } from "../parts/buttons/copy-text.tsx"
import type { NewWebhook, Webhook } from "./events.ts"

const states = {
  active: ["Active", "succeeded"],
  paused: ["Paused", "cancelled"],
  disabled: ["Disabled", "failed"],
} as const

const outcomes = {
  waiting: ["Waiting", "queued"],
  delivered: ["Delivered", "succeeded"],
  failed: ["Failed", "failed"],
} as const

/** Whether a webhook sends events. */
export function WebhookBadge({ webhook }: { webhook: Webhook }) {
  const { status, disabledReason, failingSince } = webhook
  if (status === "active" && failingSince !== null) return <Mark of={["Failing", "failed"]} />
  return <Mark of={states[status]} title={disabledReason} />
}

/** Whether an event has reached its receiver. */
export function DeliveryBadge({ status }: { status: Item<"listDeliveries">["status"] }) {
  return <Mark of={outcomes[status]} />
}

/** The secret of a new webhook, or a new secret. */
export function SecretBox({ webhook: { secret } }: { webhook: NewWebhook }) {
  return (
    <MadeBox text={secret} label="Copy the secret">
      Your receiver verifies the signatures with this secret. Copy it now: it is not shown again.
    </MadeBox>
  )
}
