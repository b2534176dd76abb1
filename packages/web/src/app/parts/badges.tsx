import type { Item } from "@hamlet/contract/client"
import { Icon, type IconName } from "../../ui/icon.tsx"

type Val = Item<"listVals">
type Run = Item<"listMyRuns">

const privacies = {
  public: { icon: "globe", label: "Public", hint: "all users can find it" },
  unlisted: { icon: "unlisted", label: "Unlisted", hint: "anyone with its address can see it" },
  private: { icon: "lock", label: "Private", hint: "only you can see it" },
} as const satisfies Record<Val["privacy"], { icon: IconName; label: string; hint: string }>

const types = {
  http: { icon: "http", label: "HTTP", hint: "responds at a web address" },
  script: { icon: "script", label: "Script", hint: "runs on demand" },
  interval: { icon: "timer", label: "Interval", hint: "runs on a schedule" },
  email: { icon: "mail", label: "Email", hint: "runs when an email arrives" },
} as const satisfies Record<Val["type"], { icon: IconName; label: string; hint: string }>

const statuses = {
  queued: "Queued",
  running: "Running",
  succeeded: "Succeeded",
  failed: "Failed",
  timed_out: "Timed out",
  cancelled: "Cancelled",
  crashed: "Crashed",
} as const satisfies Record<Run["status"], string>

/** The privacy of a val. */
export function PrivacyBadge({ privacy }: { privacy: Val["privacy"] }) {
  const { icon, label, hint } = privacies[privacy]
  return (
    <span class={`badge badge-${privacy}`} title={`${label}: ${hint}`}>
      <Icon name={icon} />
      {label}
    </span>
  )
}

/** The type of a val. */
export function TypeBadge({ type }: { type: Val["type"] }) {
  const { icon, label, hint } = types[type]
  return (
    <span class="badge" title={`${label}: ${hint}`}>
      <Icon name={icon} />
      {label}
    </span>
  )
}

/** The status of a run. */
export function StatusBadge({ status }: { status: Run["status"] }) {
  return <span class={`badge status status-${status}`}>{statuses[status]}</span>
}

/** The choices of privacy. */
export const privacyChoices = Object.entries(privacies).map(([value, { label, hint }]) => ({
  value: value as Val["privacy"],
  label,
  hint,
}))

/** The choices of type. */
export const typeChoices = Object.entries(types).map(([value, { label, hint }]) => ({
  value: value as Val["type"],
  label,
  hint,
}))

/** Choices with their meaning in the label. */
export function withMeaning<Value>(
  choices: readonly { readonly value: Value; readonly label: string; readonly hint: string }[],
) {
  return choices.map(({ value, label, hint }) => ({ value, label: `${label}: ${hint}` }))
}
