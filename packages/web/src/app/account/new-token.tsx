import type { Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { bindText } from "../../ui/bind.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { api } from "../api.ts"
import { Field, Select } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import { type Scope, ScopeList } from "./scope-list.tsx"

const lifetimes = [
  { value: "", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const

/** The form for a new token. */
export function NewToken(props: {
  readonly onClose: () => void
  readonly onDone: (token: Output<"createToken">) => void
}) {
  const name = useSignal("")
  const chosen = useSignal<ReadonlySet<Scope>>(
    new Set(["val:read", "val:write", "run:read", "run:write", "user:read"]),
  )
  const days = useSignal<(typeof lifetimes)[number]["value"]>("90")
  const create = async () => {
    const lifetimeMs = Number(days.value) * 86_400_000
    const expiresAt = days.value === "" ? null : new Date(Date.now() + lifetimeMs).toISOString()
    const input = { name: name.value.trim(), scopes: [...chosen.value], expiresAt }
    props.onDone(await api.createToken(input))
  }
  return (
    <Dialog title="New token" onClose={props.onClose}>
      <Form onSubmit={create} label="Create" isReady={chosen.value.size > 0} foot="dialog-foot">
        <Field label="Name" hint="Its purpose, so that you recognize it later.">
          <input class="input" required maxLength={100} autocomplete="off" {...bindText(name)} />
        </Field>
        <ScopeList label="Scopes" chosen={chosen} />
        <Select
          label="Expires"
          value={days.value}
          choices={lifetimes}
          onChange={(value) => {
            days.value = value
          }}
        />
      </Form>
    </Dialog>
  )
}
