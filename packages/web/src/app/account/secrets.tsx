import type { Item } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { bindText, setTo } from "../../ui/bind.ts"
import { Check } from "../../ui/check.tsx"
import { EmptyState } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { type UsedPages, usePages } from "../data/pages.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import { LinkButton } from "../parts/buttons/link-button.tsx"
import { Field } from "../parts/forms/field.tsx"
import { FormDialog } from "../parts/forms/form-dialog.tsx"
import { LoadedTable } from "../parts/lists/loaded-table.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { acting, canChangeOwn } from "../session/owners.ts"

type Secret = Item<"listSecrets">

/** How the secrets of an account or of one val are changed. */
export interface SecretActions {
  put(secret: { name: string; value: string; hosts?: string[] }): Promise<unknown>
  remove(name: string): Promise<unknown>
}

/** Named values that the vals of the owner read from the environment. They cannot be read back. */
export function Secrets() {
  const name = acting.value?.org.username
  return (
    <SecretList
      secrets={usePages("listSecrets", {})}
      mayChange={canChangeOwn()}
      actions={{
        put: (secret) => api.putSecret(secret),
        remove: (name) => api.deleteSecret({ name }),
      }}
      intro={
        <>
          {name ? `The vals of ${name}` : "Your vals"} read secrets from <code>Deno.env</code>. A
          value can be set and replaced, but not read back.
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
  readonly mayChange?: boolean
}) {
  const { secrets, actions, intro, empty, mayChange = true } = props
  const edited = useSignal<Pick<Secret, "name" | "hosts"> | undefined>(undefined)
  const remove = async (name: string) => {
    if (!confirm(`Delete the secret ${name}? Vals can no longer read it.`)) return
    await actions.remove(name)
    showDone(`${name} is deleted`)
    secrets.reload()
  }
  return (
    <>
      <div class="row wrap toolbar">
        <p class="quiet">{intro}</p>
        <span class="push" />
        {mayChange ? (
          <Button icon="plus" onClick={setTo(edited, { name: "", hosts: null })}>
            New secret
          </Button>
        ) : (
          <span class="quiet">Viewers cannot change them.</span>
        )}
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
      <LoadedTable
        of={secrets}
        rows={3}
        empty={empty}
        toKey={({ name }) => name}
        columns={[
          ["Name", "token-name breaks", ({ name }) => <code>{name}</code>],
          [
            "Only for hosts",
            "table-wide quiet",
            ({ hosts }) => hosts?.join(", ") ?? "readable by your vals",
          ],
          ["Changed", "only-wide quiet", ({ updatedAt }) => <TimeAgo at={updatedAt} />],
          [
            "Actions",
            "table-number",
            (secret) =>
              mayChange ? (
                <>
                  <LinkButton about={secret.name} onClick={setTo(edited, secret)}>
                    Replace
                  </LinkButton>
                  <LinkButton isDanger about={secret.name} onClick={() => remove(secret.name)}>
                    Delete
                  </LinkButton>
                </>
              ) : null,
          ],
        ]}
        isScrolling
      />
    </>
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
    <FormDialog
      title={isNew ? "New secret" : `Replace ${name.value}`}
      onClose={props.onClose}
      onSubmit={save}
      label="Save"
    >
      {isNew ? (
        <Field label="Name" hint="The environment variable, such as API_KEY.">
          <input
            {...shared}
            required
            pattern="[^=]+"
            title="Any text without ="
            spellcheck={false}
            {...bindText(name)}
          />
        </Field>
      ) : null}
      <Field
        label="Value"
        hint="It can have several lines, like a PEM key: paste them, or begin a line with Shift Enter."
      >
        <textarea
          {...shared}
          class={`input input-mono ${isShown.value ? "" : "masked"}`}
          required
          spellcheck={false}
          {...bindText(value)}
          onKeyDown={saveOnEnter}
        />
      </Field>
      <Check checked={isShown.value} onChange={setTo(isShown, !isShown.value)}>
        Show the value
      </Check>
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
    </FormDialog>
  )
}

/** Most values have one line: Enter saves them, as in the other fields. */
function saveOnEnter(event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }): void {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
  event.preventDefault()
  event.currentTarget.form?.requestSubmit()
}
