import { useSignal } from "@preact/signals"
import { useLayoutEffect } from "preact/hooks"
import { bindText, setTo } from "../../ui/bind.ts"
import { SecretList } from "../account/secrets.tsx"
import { api } from "../api.ts"
import { ExportButton } from "../archive/export-button.tsx"
import { usePages } from "../data/pages.ts"
import { currentLocation, navigate } from "../frame/location.ts"
import { showDone } from "../frame/toast-list.ts"
import { privacyChoices, typeChoices, withMeaning } from "../parts/badges.tsx"
import { Button } from "../parts/buttons/button.tsx"
import { CopyText } from "../parts/buttons/copy-text.tsx"
import { Field, Select, valNameInput } from "../parts/forms/field.tsx"
import { Form } from "../parts/forms/form.tsx"
import { FormDialog } from "../parts/forms/form-dialog.tsx"
import { Section } from "../parts/section.tsx"
import { PictureSetting } from "./picture-setting.tsx"
import { forgetHistory } from "./preview/request-history.ts"
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
    await editing.refresh()
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
      <PictureSetting val={editing.val.value} onSave={() => editing.refresh()} />
      <ValSecrets valId={id} />
      <Section title="Files">
        <div class="form">
          <p class="quiet">
            All files of its newest version, with their types: “New val” can import them.
          </p>
          <div class="row wrap form-foot">
            <ExportButton valId={id} name={name} />
          </div>
        </div>
      </Section>
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
      <CopyText text={line} label="Copy the line" />
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
  const remove = async () => {
    await api.deleteVal({ val_id: id })
    // Afterwards there is no unsaved input that would block the navigation.
    await onDelete()
    showDone(`${name} is deleted`)
    navigate("/")
  }
  return (
    <section class="section danger-zone" aria-labelledby="delete-title">
      <h2 id="delete-title">Delete this val</h2>
      <p>
        This also deletes its versions, runs, comments and likes. Vals that import it stop working.
      </p>
      <Button
        kind="danger-quiet"
        onClick={() => {
          typed.value = ""
          isAsking.value = true
        }}
      >
        Delete…
      </Button>
      {isAsking.value ? (
        <FormDialog
          title={`Delete ${name}?`}
          onClose={setTo(isAsking, false)}
          onSubmit={remove}
          label="Delete permanently"
          isReady={typed.value === name}
          isDanger
        >
          <Field label={`Type its name, ${name}, to confirm`}>
            <input class="input" autocomplete="off" spellcheck={false} {...bindText(typed)} />
          </Field>
        </FormDialog>
      ) : null}
    </section>
  )
}

/** The secrets of one val, which take the place of the account's of the same name. */
function ValSecrets({ valId }: { valId: string }) {
  const { hash } = currentLocation.value
  useLayoutEffect(() => {
    if (hash === "#secrets") document.getElementById("secrets")?.scrollIntoView()
  }, [hash])
  return (
    <Section title="Secrets of this val" id="secrets">
      <SecretList
        secrets={usePages("listValSecrets", { val_id: valId })}
        actions={{
          put: (secret) => api.putValSecret({ val_id: valId, ...secret }),
          remove: (name) => api.deleteValSecret({ val_id: valId, name }),
        }}
        intro={
          <>
            Only this val reads them, before the{" "}
            <a href="/account/secrets">secrets of your account</a> of the same name. Forks do not
            get them.
          </>
        }
        empty={<p class="quiet">None.</p>}
      />
    </Section>
  )
}
