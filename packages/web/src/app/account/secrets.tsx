import type { Item } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { bindText, setTo } from "../../ui/bind.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { Icon } from "../../ui/icon.tsx"
import { EmptyState } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { type UsedPages, usePages } from "../data/pages.ts"
import { showDone } from "../frame/toast-list.ts"
import { DataTable } from "../parts/data-table.tsx"
import { Field } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { useAction } from "../parts/use-action.ts"

type Secret = Item<"listSecrets">

/** How the secrets of an account or of one val are changed. */
export interface SecretActions {
  put(secret: { name: string; value: string; hosts?: string[] }): Promise<unknown>
  remove(name: string): Promise<unknown>
}

/** Named values that the user's vals read from the environment. They cannot be read back. */
export function Secrets() {
  return (
    <SecretList
      secrets={usePages("listSecrets", {})}
      actions={{
        put: (secret) => api.putSecret(secret),
        remove: (name) => api.deleteSecret({ name }),
      }}
      intro={
        <>
          Your vals read secrets from <code>Deno.env</code>. A value can be set and replaced, but
          not read back.
        </>
      }
      empty={
        <EmptyState icon="secret" title="No secrets">
          <p>Keep keys for other services here, not in code, which others may read.</p>
        </EmptyState>
      }
    />
  )
}

/** Secrets with what can be done to them. */
export function SecretList(props: {
  readonly secrets: UsedPages<Secret>
  readonly actions: SecretActions
  readonly intro: ComponentChildren
  readonly empty: ComponentChildren
}) {
  const { secrets, actions, intro, empty } = props
  const edited = useSignal<Pick<Secret, "name" | "hosts"> | undefined>(undefined)
  return (
    <>
      <div class="toolbar">
        <p class="quiet">{intro}</p>
        <span class="toolbar-push" />
        <button type="button" class="button" onClick={setTo(edited, { name: "", hosts: null })}>
          <Icon name="plus" /> New secret
        </button>
      </div>
      {edited.value ? (
        <SecretDialog
          secret={edited.value}
          actions={actions}
          onClose={setTo(edited, undefined)}
          onDone={() => {
            edited.value = undefined
            secrets.reload()
          }}
        />
      ) : null}
      <LoadedPages of={secrets} rows={3} empty={empty}>
        {(items) => (
          <SecretTable
            secrets={items}
            actions={actions}
            onChange={secrets.reload}
            onReplace={(secret) => {
              edited.value = secret
            }}
          />
        )}
      </LoadedPages>
    </>
  )
}

function SecretTable(props: {
  secrets: readonly Secret[]
  actions: SecretActions
  onChange: () => void
  onReplace: (secret: Secret) => void
}) {
  const { run } = useAction()
  const remove = ({ name }: Secret) =>
    run(async () => {
      if (!confirm(`Delete the secret ${name}? Vals can no longer read it.`)) return
      await props.actions.remove(name)
      showDone(`${name} is deleted`)
      props.onChange()
    })
  return (
    <DataTable
      columns={{ Name: "", "Only for hosts": "", Changed: "only-wide", Actions: "hidden" }}
      isScrolling
    >
      {props.secrets.map((secret) => (
        <tr key={secret.name}>
          <td class="token-name">
            <code>{secret.name}</code>
          </td>
          <td class="table-wide quiet">{secret.hosts?.join(", ") ?? "readable by your vals"}</td>
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
    </DataTable>
  )
}

function SecretDialog(props: {
  secret: Pick<Secret, "name" | "hosts">
  actions: SecretActions
  onClose: () => void
  onDone: () => void
}) {
  const isNew = props.secret.name === ""
  const name = useSignal(props.secret.name)
  const value = useSignal("")
  const isShown = useSignal(false)
  const hostText = useSignal(props.secret.hosts?.join(", ") ?? "")
  const save = async () => {
    const hosts = hostText.value.split(/[\s,]+/).filter((host) => host !== "")
    const limit = hosts.length > 0 ? { hosts } : {}
    await props.actions.put({ name: name.value, value: value.value, ...limit })
    showDone(`${name.value} is saved`)
    props.onDone()
  }
  const shared = { class: "input input-mono", autocomplete: "off" } as const
  return (
    <Dialog title={isNew ? "New secret" : `Replace ${name.value}`} onClose={props.onClose}>
      <Form onSubmit={save} label="Save" foot="dialog-foot">
        {isNew ? (
          <Field label="Name" hint="The environment variable, in capital letters: API_KEY.">
            <input
              {...shared}
              required
              pattern="[A-Z_][A-Z0-9_]*"
              title="Capital letters, digits and _"
              spellcheck={false}
              {...bindText(name)}
            />
          </Field>
        ) : null}
        <Field label="Value" hint="It can have several lines, like a PEM key.">
          <textarea
            {...shared}
            class={`input input-mono ${isShown.value ? "" : "masked"}`}
            required
            spellcheck={false}
            {...bindText(value)}
          />
        </Field>
        <label class="check">
          <input
            type="checkbox"
            checked={isShown.value}
            onChange={setTo(isShown, !isShown.value)}
          />
          <span>Show the value</span>
        </label>
        <Field
          label="Only for these hosts (optional)"
          hint="Vals then read a placeholder, and the server puts the value into the headers of requests to these hosts."
        >
          <input
            {...shared}
            placeholder="api.example.com"
            spellcheck={false}
            {...bindText(hostText)}
          />
        </Field>
      </Form>
    </Dialog>
  )
}
