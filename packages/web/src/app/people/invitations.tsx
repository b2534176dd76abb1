import type { Item, Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { bindText, setTo } from "../../ui/bind.ts"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Dialog } from "../../ui/dialog.tsx"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { showDone } from "../frame/toast-list.ts"
import { DataTable } from "../parts/data-table.tsx"
import { Field, Select } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import { Section } from "../parts/section.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { useAction } from "../parts/use-action.ts"
import { QuotaFields, toQuotas, useQuotaTexts } from "./quota-fields.tsx"

/** The open invitations, and a form for another one. */
export function Invitations() {
  const invitations = usePages("listInvitations", {})
  const isFormOpen = useSignal(false)
  const created = useSignal<Output<"createInvitation"> | undefined>(undefined)
  const { run } = useAction()
  const revoke = (invitation: Item<"listInvitations">) =>
    run(async () => {
      await api.revokeInvitation({ invitation_id: invitation.id })
      if (created.value?.id === invitation.id) created.value = undefined
      showDone("The invitation is revoked")
      invitations.reload()
    })
  const end = (
    <button type="button" class="button" onClick={setTo(isFormOpen, true)}>
      <Icon name="plus" /> Invite
    </button>
  )
  return (
    <Section title="Invitations" end={end}>
      {created.value ? <CreatedInvitation invitation={created.value} /> : null}
      {isFormOpen.value ? (
        <InvitationForm
          onClose={setTo(isFormOpen, false)}
          onDone={(invitation) => {
            isFormOpen.value = false
            created.value = invitation
            invitations.reload()
          }}
        />
      ) : null}
      <LoadedPages of={invitations} rows={1} empty={<p class="quiet">No open invitations.</p>}>
        {(items) => (
          <DataTable
            columns={{
              For: "",
              By: "only-wide",
              Created: "only-wide",
              Expires: "",
              Actions: "hidden",
            }}
          >
            {items.map((invitation) => (
              <tr key={invitation.id}>
                <td class="table-wide">{toLabel(invitation)}</td>
                <td class="only-wide quiet">{invitation.createdBy}</td>
                <td class="only-wide quiet">
                  <TimeAgo at={invitation.createdAt} />
                </td>
                <td class="quiet">
                  <TimeAgo at={invitation.expiresAt} />
                </td>
                <td class="table-number">
                  <button
                    type="button"
                    class="link-button link-danger"
                    onClick={() => void revoke(invitation)}
                  >
                    Revoke<span class="visually-hidden"> {toLabel(invitation)}</span>
                  </button>
                </td>
              </tr>
            ))}
          </DataTable>
        )}
      </LoadedPages>
    </Section>
  )
}

function toLabel({ note, email }: Item<"listInvitations">): string {
  return [note, email].filter(Boolean).join(", ") || "one person"
}

function CreatedInvitation({ invitation }: { invitation: Output<"createInvitation"> }) {
  return (
    <div class="made card card-pad" role="status">
      <p>
        Send this link to the person. It works once, and is not shown again: it expires{" "}
        <TimeAgo at={invitation.expiresAt} />.
      </p>
      <p class="made-text">
        <code>{invitation.url}</code>
        <CopyButton text={invitation.url} label="Copy the link" />
      </p>
    </div>
  )
}

const periods = [
  { value: "24", label: "1 day" },
  { value: "72", label: "3 days" },
  { value: "168", label: "1 week" },
  { value: "720", label: "30 days" },
] as const

function InvitationForm(props: {
  onClose: () => void
  onDone: (invitation: Output<"createInvitation">) => void
}) {
  const note = useSignal("")
  const email = useSignal("")
  const hours = useSignal<(typeof periods)[number]["value"]>("72")
  const quotas = useQuotaTexts()
  const submit = async () => {
    const limits = toQuotas(quotas)
    const hasLimits = Object.values(limits).some((limit) => limit !== null)
    props.onDone(
      await api.createInvitation({
        note: note.value.trim() || null,
        email: email.value.trim() || null,
        hours: Number(hours.value),
        quotas: hasLimits ? limits : null,
      }),
    )
  }
  return (
    <Dialog title="Invite a person" onClose={props.onClose}>
      <Form onSubmit={submit} label="Create invitation" busyLabel="Creating…" foot="dialog-foot">
        <Field label="Note" hint="For administrators: whom it is for.">
          <input class="input" maxLength={200} {...bindText(note)} />
        </Field>
        <Field label="Email" hint="Optional. The account gets this address as confirmed.">
          <input class="input" type="email" maxLength={254} {...bindText(email)} />
        </Field>
        <Select
          label="Valid for"
          value={hours.value}
          choices={periods}
          onChange={(value) => {
            hours.value = value
          }}
        />
        <details>
          <summary>Quotas</summary>
          <QuotaFields texts={quotas} />
        </details>
      </Form>
    </Dialog>
  )
}
