import type { Item } from "@hamlet/contract/client"
import { CopyButton } from "../../ui/copy-button.tsx"
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
  if (status === "active" && failingSince !== null)
    return <span class="badge status status-failed">Failing</span>
  const [label, kind] = states[status]
  return (
    <span
      class={`badge status status-${kind}`}
      {...(disabledReason === null ? {} : { title: disabledReason })}
    >
      {label}
    </span>
  )
}

/** Whether an event has reached its receiver. */
export function DeliveryBadge({ status }: { status: Item<"listDeliveries">["status"] }) {
  const [label, kind] = outcomes[status]
  return <span class={`badge status status-${kind}`}>{label}</span>
}

/** The secret of a new webhook, or a new secret. */
export function SecretBox({ webhook: { secret } }: { webhook: NewWebhook }) {
  return (
    <div class="made card card-pad" role="status">
      <p>
        Your receiver verifies the signatures with this secret. Copy it now: it is not shown again.
      </p>
      <p class="made-text">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </p>
    </div>
  )
}
