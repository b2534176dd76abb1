import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { bindText } from "../../ui/bind.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { api } from "../api.ts"
import { useResource } from "../data/resource.ts"
import { Field } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import { Segments } from "../parts/segments.tsx"
import { type EventName, events, type NewWebhook, type Webhook } from "./events.ts"

type MyVal = { readonly id: string; readonly name: string }

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
  const vals = useMyVals()
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
    <Dialog title={webhook ? "Change the webhook" : "New webhook"} onClose={onClose}>
      <Form
        onSubmit={save}
        label={webhook ? "Save" : "Create"}
        isReady={chosen.value.size > 0}
        foot="dialog-foot"
      >
        <Segments
          label="Receiver"
          choices={[
            { name: "url", label: "A web address" },
            { name: "val", label: "One of your vals" },
          ]}
          current={kind.value}
          onChange={(name) => {
            kind.value = name
          }}
        />
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
        <EventChoice chosen={chosen} />
        <ValField
          label="Only events of this val (optional)"
          hint="Otherwise it gets the events of all your vals."
          vals={vals}
          name={valName}
        />
        <Field label="Description (optional)">
          <input class="input" maxLength={200} autocomplete="off" {...bindText(description)} />
        </Field>
      </Form>
    </Dialog>
  )
}

function EventChoice({ chosen }: { chosen: { value: ReadonlySet<EventName> } }) {
  const toggle = (name: EventName) => {
    const next = new Set(chosen.value)
    if (!next.delete(name)) next.add(name)
    chosen.value = next
  }
  return (
    <fieldset>
      <legend class="field-label">Events</legend>
      <div class="scopes">
        {Object.entries(events).map(([name, meaning]) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={chosen.value.has(name as EventName)}
              onChange={() => toggle(name as EventName)}
            />
            <span>
              {meaning} <code>{name}</code>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

function ValField(props: {
  readonly label: string
  readonly hint: string
  readonly vals: readonly MyVal[]
  readonly name: { value: string }
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
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value
          }}
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

function useMyVals(): readonly MyVal[] {
  const { state } = useResource(
    "val states",
    async (signal) => (await api.listMyValStates({}, { signal })).data,
  )
  return state.kind === "ready" ? state.data : []
}

function findVal(vals: readonly MyVal[], name: string): string {
  const found = vals.find((val) => val.name === name.trim())
  if (!found) throw new Error(`Cannot find val "${name.trim()}": none of yours has that name`)
  return found.id
}
