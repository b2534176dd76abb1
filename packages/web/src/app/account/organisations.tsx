import { useSignal } from "@preact/signals"
import { bindText, setTo } from "../../ui/bind.ts"
import { EmptyState } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { navigate } from "../frame/location.ts"
import { InvitationAnswers } from "../organisations/answers.tsx"
import { toRoleText } from "../organisations/role-texts.ts"
import { Avatar } from "../parts/avatar.tsx"
import { Button } from "../parts/buttons/button.tsx"
import { Field } from "../parts/forms/field.tsx"
import { FormDialog } from "../parts/forms/form-dialog.tsx"
import { acting, chooseOwner, type Membership, memberships } from "../session/owners.ts"
import { reloadMemberships } from "../session/sign-in.ts"

/** The organisations that the user belongs to or is invited to, and a form for another one. */
export function OwnOrganisations() {
  const isFormOpen = useSignal(false)
  const { value } = memberships
  return (
    <>
      <div class="row wrap toolbar">
        <p class="quiet">
          An organisation owns vals and their data. Its members change them together.{" "}
          <a href="/docs/organisations">More about organisations</a>
        </p>
        <span class="push" />
        <Button icon="plus" onClick={setTo(isFormOpen, true)}>
          New organisation
        </Button>
      </div>
      {isFormOpen.value ? <NewOrganisation onClose={setTo(isFormOpen, false)} /> : null}
      {value.length === 0 ? (
        <EmptyState icon="people" title="No organisations">
          <p>You belong to none yet.</p>
        </EmptyState>
      ) : (
        <ul class="card">
          {value.map((membership) => (
            <Row key={membership.org.id} {...membership} />
          ))}
        </ul>
      )}
    </>
  )
}

function Row({ org, role, pending }: Membership) {
  const { id, username } = org
  const isCurrent = acting.value?.org.id === id
  return (
    <li class="row wrap ruled session-row">
      <span class="row invitation-answers">
        <Avatar name={username} />
        <span>
          <a href={pending ? `/u/${username}` : `/orgs/${username}`}>{username}</a>
          <span class="quiet">
            {pending ? ` invites you as ${toRoleText(role)}` : `, you are ${toRoleText(role)}`}
          </span>
        </span>
      </span>
      {pending ? (
        <InvitationAnswers org={org} />
      ) : (
        <Button kind="quiet small" onClick={() => chooseOwner(isCurrent ? undefined : id)}>
          {isCurrent ? "Act for yourself" : `Act for ${username}`}
        </Button>
      )}
    </li>
  )
}

function NewOrganisation({ onClose }: { onClose: () => void }) {
  const username = useSignal("")
  const bio = useSignal("")
  const create = async () => {
    const org = await api.createOrganisation({
      username: username.value.trim(),
      bio: bio.value.trim() || null,
    })
    await reloadMemberships()
    onClose()
    chooseOwner(org.id)
    navigate(`/orgs/${org.username}`)
  }
  return (
    <FormDialog
      title="New organisation"
      onClose={onClose}
      onSubmit={create}
      label="Create"
      busyLabel="Creating…"
    >
      <Field
        label="Name"
        hint="Letters, digits and _, up to 30. It becomes part of the addresses of its vals and cannot be changed."
      >
        <input
          class="input"
          required
          maxLength={30}
          pattern="[a-zA-Z][a-zA-Z0-9_]*"
          autocomplete="off"
          spellcheck={false}
          {...bindText(username)}
        />
      </Field>
      <Field label="About it (optional)" hint="Public, on its page.">
        <textarea class="input" maxLength={2_000} {...bindText(bio)} />
      </Field>
    </FormDialog>
  )
}
