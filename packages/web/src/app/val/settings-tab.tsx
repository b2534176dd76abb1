import { useSignal } from "@preact/signals"
import { bindText, setTo } from "../../ui/bind.ts"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Dialog } from "../../ui/dialog.tsx"
import { api } from "../api.ts"
import { navigate } from "../frame/location.ts"
import { showDone } from "../frame/toast-list.ts"
import { privacyChoices, typeChoices, withMeaning } from "../parts/badges.tsx"
import { Field, Select, valNameInput } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import { Section } from "../parts/section.tsx"
import { useAction } from "../parts/use-action.ts"
import { forgetHistory } from "./preview/request-history.ts"
import { ValSecrets } from "./val-secrets.tsx"
import type { ValTabProps } from "./val-tab-props.ts"

/** The name, privacy and type of a val, and its deletion. */
export function SettingsTab({ editing }: ValTabProps) {
  const { id, name, privacy, type } = editing.val.value
  const form = useSignal({ name, privacy, type })
  const isChanged =
    form.value.name !== name || form.value.privacy !== privacy || form.value.type !== type
  const change = (changes: Partial<typeof form.value>) => {
    form.value = { ...form.value, ...changes }
  }
  const save = async () => {
    await api.updateVal({ val_id: id, ...form.value })
    const saved = await api.getVal({ val_id: id })
    editing.refresh(saved)
    showDone("Saved")
    navigate(`/u/${saved.author.username}/${saved.name}/settings`, { replace: true })
  }
  return (
    <>
      <Form onSubmit={save} label="Save" isReady={isChanged}>
        <Field label="Name" hint="Changes its address; vals that import the old name stop working.">
          <input
            {...valNameInput}
            required
            value={form.value.name}
            onInput={(event) => change({ name: event.currentTarget.value })}
          />
        </Field>
        <Select
          label="Privacy"
          value={form.value.privacy}
          choices={withMeaning(privacyChoices)}
          onChange={(privacy) => change({ privacy })}
        />
        <Select
          label="Type"
          value={form.value.type}
          choices={withMeaning(typeChoices)}
          onChange={(type) => change({ type })}
        />
      </Form>
      <ValSecrets valId={id} />
      {privacy === "private" ? null : <Embed editing={editing} />}
      <DeleteVal id={id} name={name} onDelete={() => discard(editing)} />
    </>
  )
}

/** Removes what this browser has stored of a deleted val. */
async function discard(editing: ValTabProps["editing"]): Promise<void> {
  forgetHistory(editing.val.peek().id)
  await editing.discardAll()
}

/** The line that shows the code of the val in another page. */
function Embed({ editing }: Pick<ValTabProps, "editing">) {
  const { name, author } = editing.val.value
  const address = `${location.origin}/embed/${author.username}/${name}`
  const line = `<iframe src="${address}" title="${name}" width="100%" height="400"></iframe>`
  return (
    <Section title="Show the code in another page">
      <p class="made-text">
        <code>{line}</code>
        <CopyButton text={line} label="Copy the line" />
      </p>
      <p>
        <a href={address} target="_blank" rel="noopener noreferrer">
          See what it looks like
        </a>
      </p>
    </Section>
  )
}

function DeleteVal(props: { id: string; name: string; onDelete: () => Promise<void> }) {
  const { id, name, onDelete } = props
  const isAsking = useSignal(false)
  const typed = useSignal("")
  const { isBusy, run } = useAction()
  const remove = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      await api.deleteVal({ val_id: id })
      // Afterwards there is no unsaved input that would block the navigation.
      await onDelete()
      showDone(`${name} is deleted`)
      navigate("/")
    })
  }
  return (
    <section class="section danger-zone" aria-labelledby="delete-title">
      <h2 id="delete-title">Delete this val</h2>
      <p>
        This also deletes its versions, runs, comments and likes. Vals that import it stop working.
      </p>
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
        <Dialog title={`Delete ${name}?`} onClose={setTo(isAsking, false)}>
          <form class="form" onSubmit={remove}>
            <Field label={`Type its name, ${name}, to confirm`}>
              <input class="input" autocomplete="off" spellcheck={false} {...bindText(typed)} />
            </Field>
            <div class="dialog-foot">
              <button
                type="submit"
                class="button button-danger"
                disabled={typed.value !== name || isBusy}
              >
                Delete permanently
              </button>
            </div>
          </form>
        </Dialog>
      ) : null}
    </section>
  )
}
