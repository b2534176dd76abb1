import { useSignal } from "@preact/signals"
import { api } from "../api.ts"
import { navigate } from "../frame/location.ts"
import { sayDone, sayFailed } from "../frame/toast-list.ts"
import { privacyChoices, typeChoices, withMeaning } from "../parts/badges.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { Field, Select } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import type { ValTabProps } from "./val-tab-props.ts"

/** Name, privacy and type of a val, and the end of it. */
export function SettingsTab({ editing }: ValTabProps) {
  const { id, name, privacy, type } = editing.val.value
  const wanted = useSignal({ name, privacy, type })
  const isChanged =
    wanted.value.name !== name || wanted.value.privacy !== privacy || wanted.value.type !== type
  const save = async () => {
    await api.updateVal({ val_id: id, ...wanted.value })
    const saved = await api.getVal({ val_id: id })
    editing.refresh(saved)
    sayDone("Saved")
    navigate(`/u/${saved.author.username}/${saved.name}/settings`, { replace: true })
  }
  return (
    <>
      <Form onSubmit={save} label="Save" isReady={isChanged}>
        <Field
          label="Name"
          hint="Its address changes with it, and vals that import it by the old one find it no more."
        >
          <input
            class="input"
            required
            maxLength={48}
            pattern="[a-zA-Z][a-zA-Z0-9_]*"
            title="A letter, then letters, digits and _"
            autocomplete="off"
            spellcheck={false}
            value={wanted.value.name}
            onInput={(event) => {
              wanted.value = { ...wanted.value, name: event.currentTarget.value }
            }}
          />
        </Field>
        <Select
          label="Privacy"
          value={wanted.value.privacy}
          choices={withMeaning(privacyChoices)}
          onChange={(privacy) => {
            wanted.value = { ...wanted.value, privacy }
          }}
        />
        <Select
          label="Type"
          value={wanted.value.type}
          choices={withMeaning(typeChoices)}
          onChange={(type) => {
            wanted.value = { ...wanted.value, type }
          }}
        />
      </Form>
      <DeleteVal id={id} name={name} onDelete={() => editing.forgetAll()} />
    </>
  )
}

function DeleteVal({
  id,
  name,
  onDelete,
}: {
  id: string
  name: string
  onDelete: () => Promise<void>
}) {
  const isAsking = useSignal(false)
  const typed = useSignal("")
  const isBusy = useSignal(false)
  const remove = async (event: Event) => {
    event.preventDefault()
    isBusy.value = true
    try {
      await api.deleteVal({ val_id: id })
      // Nothing is left that leaving could lose.
      await onDelete()
      sayDone(`${name} is deleted`)
      navigate("/")
    } catch (error) {
      sayFailed(error)
      isBusy.value = false
    }
  }
  return (
    <section class="section danger-zone" aria-labelledby="delete-title">
      <h2 id="delete-title">Delete this val</h2>
      <p>Its versions, runs, comments and likes go with it. Vals that import it stop working.</p>
      <button
        type="button"
        class="button button-danger-quiet"
        onClick={() => {
          typed.value = ""
          isAsking.value = true
        }}
      >
        Delete…
      </button>
      {isAsking.value ? (
        <Dialog
          title={`Delete ${name}?`}
          onClose={() => {
            isAsking.value = false
          }}
        >
          <form class="form" onSubmit={remove}>
            <Field label={`Type its name, ${name}, to delete it for good`}>
              <input
                class="input"
                autocomplete="off"
                spellcheck={false}
                value={typed.value}
                onInput={(event) => {
                  typed.value = event.currentTarget.value
                }}
              />
            </Field>
            <div class="dialog-foot">
              <button
                type="submit"
                class="button button-danger"
                disabled={typed.value !== name || isBusy.value}
              >
                Delete for good
              </button>
            </div>
          </form>
        </Dialog>
      ) : null}
    </section>
  )
}
