import { type Signal, useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { bindChoice, bindText } from "../../ui/bind.ts"
import { api } from "../api.ts"
import { CheckList } from "../parts/forms/check-list.tsx"
import { Field } from "../parts/forms/field.tsx"
import { FormDialog } from "../parts/forms/form-dialog.tsx"
import { Segments } from "../parts/forms/segments.tsx"
import { useChosenVal } from "../runs/list/val-filter.tsx"
import { type EventName, events, type NewWebhook, type Webhook } from "./events.ts"

type MyVal = { readonly id: string; readonly name: string }

const receivers = [
  { value: "url", label: "A web address" },
  { value: "val", label: "One of your vals" },
] as const

const meanings = Object.entries(events) as [EventName, string][]

/** The form for a new webhook, or for a change. */
export function WebhookForm(props: {
  /** The webhook to change. */
  readonly webhook?: Webhook
  readonly onClose: () => void
  readonly onDone: (saved: Webhook | NewWebhook) => void
}) {
  const { webhook, onClose, onDone } = props
  const kind = useSignal<"url" | "val">(webhook?.url === null ? "val" : "url")
  const url = useSignal(webhook?.url ?? "")
  const targetName = useSignal(webhook?.targetVal?.name ?? "")
  const valName = useSignal(webhook?.val?.name ?? "")
  const description = useSignal(webhook?.description ?? "")
  const chosen = useSignal<ReadonlySet<EventName>>(new Set(webhook?.events ?? ["run.failed"]))
  const { vals } = useChosenVal(null, true)
  const save = async () => {
    const input = {
      ...(kind.value === "url"
        ? { url: url.value.trim() }
        : { targetValId: findVal(vals, targetName.value) }),
      events: [...chosen.value],
      valId: valName.value.trim() === "" ? null : findVal(vals, valName.value),
      description: description.value.trim() || null,
    }
    onDone(
      webhook
        ? await api.updateWebhook({ webhook_id: webhook.id, ...input })
        : await api.createWebhook(input),
    )
  }
  return (
    <FormDialog
      title={webhook ? "Change the webhook" : "New webhook"}
      onClose={onClose}
      onSubmit={save}
      label={webhook ? "Save" : "Create"}
      isReady={chosen.value.size > 0}
    >
      <Segments label="Receiver" choices={receivers} {...bindChoice(kind)} />
      {kind.value === "url" ? (
        // The keys keep the fields apart: Chromium crashes when a URL field gets a list.
        <Field key="url" label="Address" hint="It gets a POST request for each event.">
          <input
            class="input input-mono"
            type="url"
            required
            placeholder="https://example.com/hook"
            autocomplete="off"
            spellcheck={false}
            {...bindText(url)}
          />
        </Field>
      ) : (
        <ValField
          key="val"
          label="Val"
          hint="It is called with the event, as a run of your account."
          vals={vals}
          name={targetName}
          isRequired
        />
      )}
      <CheckList label="Events" meanings={meanings} chosen={chosen} />
      <ValField
        label="Only events of this val (optional)"
        hint="Otherwise it gets the events of all your vals."
        vals={vals}
        name={valName}
      />
      <Field label="Description (optional)">
        <input class="input" maxLength={200} autocomplete="off" {...bindText(description)} />
      </Field>
    </FormDialog>
  )
}

function ValField(props: {
  readonly label: string
  readonly hint: string
  readonly vals: readonly MyVal[]
  readonly name: Signal<string>
  readonly isRequired?: boolean
}) {
  const { label, hint, vals, name, isRequired = false } = props
  const listId = useId()
  return (
    <>
      <Field label={label} hint={hint}>
        <input
          class="input"
          list={listId}
          required={isRequired}
          placeholder="The name of a val"
          autocomplete="off"
          spellcheck={false}
          {...bindText(name)}
        />
      </Field>
      <datalist id={listId}>
        {vals.map((val) => (
          <option key={val.id} value={val.name} />
        ))}
      </datalist>
    </>
  )
}

function findVal(vals: readonly MyVal[], name: string): string {
  const found = vals.find((val) => val.name === name.trim())
  if (!found) throw new Error(`Cannot find val "${name.trim()}": none of yours has that name`)
  return found.id
}
