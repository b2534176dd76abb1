import type { Item } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { MoreButton } from "../data/more-button.tsx"
import { Bars, EmptyState, Loaded } from "../data/page-states.tsx"
import { usePages } from "../data/pages.ts"
import { sayDone, sayFailed } from "../frame/toast-list.ts"
import { Dialog } from "../parts/dialog.tsx"
import { Field } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"

/** Named values that one's vals see as environment. Nobody can read them back, not even here. */
export function Secrets() {
  const secrets = usePages("listSecrets", {})
  const setting = useSignal<{ readonly name: string; readonly hosts: string } | undefined>(
    undefined,
  )
  return (
    <>
      <div class="toolbar">
        <p class="quiet">
          Your vals see secrets as <code>Deno.env</code>. A value can be set and replaced, never
          read back.
        </p>
        <span class="toolbar-push" />
        <button
          type="button"
          class="button"
          onClick={() => {
            setting.value = { name: "", hosts: "" }
          }}
        >
          <Icon name="plus" /> New secret
        </button>
      </div>
      {setting.value ? (
        <SetSecret
          beginning={setting.value}
          onClose={() => {
            setting.value = undefined
          }}
          onDone={() => {
            setting.value = undefined
            secrets.reload()
          }}
        />
      ) : null}
      <Loaded of={secrets.state} onRetry={secrets.reload} skeleton={<Bars count={3} kind="row" />}>
        {({ items }) =>
          items.length > 0 ? (
            <SecretTable
              secrets={items}
              onChange={secrets.reload}
              onReplace={({ name, hosts }) => {
                setting.value = { name, hosts: hosts?.join(", ") ?? "" }
              }}
            />
          ) : (
            <EmptyState icon="lock" title="No secrets">
              <p>Keys for other services belong here and not into code, which others may read.</p>
            </EmptyState>
          )
        }
      </Loaded>
      <MoreButton list={secrets} />
    </>
  )
}

type Secret = Item<"listSecrets">

function SecretTable(props: {
  secrets: readonly Secret[]
  onChange: () => void
  onReplace: (secret: Secret) => void
}) {
  const remove = async ({ name }: Secret) => {
    if (!confirm(`Delete the secret ${name}? Vals that read it find nothing from now on.`)) return
    try {
      await api.deleteSecret({ name })
      sayDone(`${name} is deleted`)
      props.onChange()
    } catch (error) {
      sayFailed(error)
    }
  }
  return (
    <div class="card table-scroll">
      <table class="table">
        <thead>
          <tr>
            <th>Name</th>
            <th>Only for hosts</th>
            <th class="only-wide">Changed</th>
            <th>
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.secrets.map((secret) => (
            <tr key={secret.name}>
              <td class="token-name">
                <code>{secret.name}</code>
              </td>
              <td class="table-wide quiet">{secret.hosts?.join(", ") ?? "seen by your vals"}</td>
              <td class="only-wide quiet">
                <TimeAgo at={secret.updatedAt} />
              </td>
              <td class="table-number">
                <button type="button" class="link-button" onClick={() => props.onReplace(secret)}>
                  Replace<span class="visually-hidden"> {secret.name}</span>
                </button>
                <button
                  type="button"
                  class="link-button link-danger"
                  onClick={() => void remove(secret)}
                >
                  Delete<span class="visually-hidden"> {secret.name}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function SetSecret(props: {
  beginning: { readonly name: string; readonly hosts: string }
  onClose: () => void
  onDone: () => void
}) {
  const isNew = props.beginning.name === ""
  const wanted = useSignal({ ...props.beginning, value: "" })
  const change = (changes: Partial<typeof wanted.value>) => {
    wanted.value = { ...wanted.value, ...changes }
  }
  const save = async () => {
    const { name, value } = wanted.value
    const hosts = wanted.value.hosts.split(/[\s,]+/).filter((host) => host !== "")
    await api.putSecret({ name, value, ...(hosts.length > 0 ? { hosts } : {}) })
    sayDone(`${name} is set`)
    props.onDone()
  }
  return (
    <Dialog
      title={isNew ? "New secret" : `Replace ${props.beginning.name}`}
      onClose={props.onClose}
    >
      <Form onSubmit={save} label="Set it" foot="dialog-foot">
        {isNew ? (
          <Field label="Name" hint="As vals will read it, in capital letters: API_KEY.">
            <input
              class="input input-mono"
              required
              pattern="[A-Z_][A-Z0-9_]*"
              title="Capital letters, digits and _"
              autocomplete="off"
              spellcheck={false}
              value={wanted.value.name}
              onInput={(event) => change({ name: event.currentTarget.value })}
            />
          </Field>
        ) : null}
        <Field label="Value">
          <input
            class="input input-mono"
            type="password"
            required
            autocomplete="off"
            value={wanted.value.value}
            onInput={(event) => change({ value: event.currentTarget.value })}
          />
        </Field>
        <Field
          label="Only for these hosts (optional)"
          hint="Vals then see a placeholder, and the value is put into headers of requests to these hosts by the server."
        >
          <input
            class="input input-mono"
            placeholder="api.example.com"
            autocomplete="off"
            spellcheck={false}
            value={wanted.value.hosts}
            onInput={(event) => change({ hosts: event.currentTarget.value })}
          />
        </Field>
      </Form>
    </Dialog>
  )
}
