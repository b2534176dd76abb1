import { useSignal } from "@preact/signals"
import { bindText, setTo } from "../../ui/bind.ts"
import { Bars } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import { navigate } from "../frame/location.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import { Field } from "../parts/forms/field.tsx"
import { Form } from "../parts/forms/form.tsx"
import { FormDialog } from "../parts/forms/form-dialog.tsx"
import { type Membership, roleIn } from "../session/owners.ts"
import { reloadMemberships } from "../session/sign-in.ts"

type Org = Membership["org"]

/** What an organisation says about itself, and its end. */
export function OrgSettings({ org }: { org: Org }) {
  const details = useResource(org.id, (signal) =>
    api.getOrganisation({ org_id: org.id }, { signal }),
  )
  if (roleIn(org.id) !== "owner")
    return <p class="quiet">Only owners of {org.username} change its settings.</p>
  return (
    <>
      <Loaded of={details} skeleton={<Bars count={3} />}>
        {({ bio }) => <BioForm org={org} bio={bio ?? ""} />}
      </Loaded>
      <DeleteOrganisation org={org} />
    </>
  )
}

function BioForm({ org, bio }: { org: Org; bio: string }) {
  const saved = useSignal(bio)
  const text = useSignal(bio)
  const save = async () => {
    await api.updateOrganisation({ org_id: org.id, bio: text.value || null })
    saved.value = text.value
    showDone("Saved")
  }
  return (
    <Form onSubmit={save} label="Save" isReady={text.value !== saved.value}>
      <Field label={`About ${org.username}`} hint="Public, on its page.">
        <textarea class="input" maxLength={2_000} {...bindText(text)} />
      </Field>
    </Form>
  )
}

function DeleteOrganisation({ org }: { org: Org }) {
  const { id, username } = org
  const isAsking = useSignal(false)
  const typed = useSignal("")
  const remove = async () => {
    await api.deleteOrganisation({ org_id: id, confirm: typed.value })
    navigate("/account/organisations")
    await reloadMemberships()
    showDone(`${username} is deleted`)
  }
  return (
    <section class="section danger-zone" aria-labelledby="delete-title">
      <h2 id="delete-title">Delete this organisation</h2>
      <p>
        This also deletes all its vals with their versions and runs, its data, secrets, schedules
        and webhooks. Vals of others that import them stop working. It cannot be undone.
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
          title={`Delete ${username}?`}
          onClose={setTo(isAsking, false)}
          onSubmit={remove}
          label="Delete permanently"
          isReady={typed.value === username}
          isDanger
        >
          <Field label={`Type its name, ${username}, to confirm`}>
            <input class="input" autocomplete="off" spellcheck={false} {...bindText(typed)} />
          </Field>
        </FormDialog>
      ) : null}
    </section>
  )
}
