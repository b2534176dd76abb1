import type { Item } from "@hamlet/contract/client"
import { Icon, type IconName } from "../../ui/icon.tsx"

type Val = Item<"listVals">
type Run = Item<"listMyRuns">

const privacies = {
  public: { icon: "globe", label: "Public", hint: "all users can find it" },
  unlisted: { icon: "unlisted", label: "Unlisted", hint: "anyone with its address can see it" },
  private: { icon: "lock", label: "Private", hint: "only you can see it" },
} as const satisfies Record<Val["privacy"], Kind>

const types = {
  http: { icon: "http", label: "HTTP", hint: "responds at a web address" },
  script: { icon: "script", label: "Script", hint: "runs on demand" },
  interval: { icon: "timer", label: "Interval", hint: "runs on a schedule" },
  email: { icon: "mail", label: "Email", hint: "runs when an email arrives" },
} as const satisfies Record<Val["type"], Kind>

const statuses = {
  queued: "Queued",
  running: "Running",
  succeeded: "Succeeded",
  failed: "Failed",
  timed_out: "Timed out",
  cancelled: "Cancelled",
  crashed: "Crashed",
} as const satisfies Record<Run["status"], string>

interface Kind {
  readonly icon: IconName
  readonly label: string
  readonly hint: string
}

/** The privacy of a val. */
export function PrivacyBadge({ privacy }: { privacy: Val["privacy"] }) {
  return <KindBadge kind={privacies[privacy]} class={`badge badge-${privacy}`} />
}

/** The type of a val. */
export function TypeBadge({ type }: { type: Val["type"] }) {
  return <KindBadge kind={types[type]} class="badge" />
}

function KindBadge(props: { readonly kind: Kind; readonly class: string }) {
  const { icon, label, hint } = props.kind
  return (
    <span class={props.class} title={`${label}: ${hint}`}>
      <Icon name={icon} />
      {label}
    </span>
  )
}

/** The status of a run. */
export function StatusBadge({ status }: { status: Run["status"] }) {
  return <Mark of={[statuses[status], status]} />
}

/** A state in a word, in the colour of a status of runs. */
export function Mark(props: {
  readonly of: readonly [label: string, status: Run["status"]]
  readonly title?: string | null
}) {
  const [label, status] = props.of
  return (
    <span class={`badge status status-${status}`} {...(props.title ? { title: props.title } : {})}>
      {label}
    </span>
  )
}

/** The choices of privacy. */
export const privacyChoices = toChoices(privacies)

/** The choices of type. */
export const typeChoices = toChoices(types)

function toChoices<Value extends string>(kinds: Readonly<Record<Value, Kind>>) {
  return (Object.entries(kinds) as [Value, Kind][]).map(([value, { label, hint }]) => ({
    value,
    label,
    hint,
  }))
}

/** Choices with their meaning in the label. */
export function withMeaning<Value>(
  choices: readonly { readonly value: Value; readonly label: string; readonly hint: string }[],
) {
  return choices.map(({ value, label, hint }) => ({ value, label: `${label}: ${hint}` }))
}
