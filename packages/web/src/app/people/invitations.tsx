import type { Item, Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { bindChoice, bindText, setTo } from "../../ui/bind.ts"
import { api } from "../api.ts"
import { usePages } from "../data/pages.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import { MadeBox } from "../parts/buttons/copy-text.tsx"
import { LinkButton } from "../parts/buttons/link-button.tsx"
import { Field, Select } from "../parts/forms/field.tsx"
import { FormDialog } from "../parts/forms/form-dialog.tsx"
import { LoadedTable } from "../parts/lists/loaded-table.tsx"
import { Section } from "../parts/section.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { QuotaFields, toQuotas, useQuotaTexts } from "./quota-fields.tsx"

/** The open invitations, and a form for another one. */
export function Invitations() {
  const invitations = usePages("listInvitations", {})
  const isFormOpen = useSignal(false)
  const created = useSignal<Output<"createInvitation"> | undefined>(undefined)
  const revoke = async (id: string) => {
    await api.revokeInvitation({ invitation_id: id })
    if (created.value?.id === id) created.value = undefined
    showDone("The invitation is revoked")
    invitations.reload()
  }
  const end = (
    <Button icon="plus" onClick={setTo(isFormOpen, true)}>
      Invite
    </Button>
  )
  return (
    <Section title="Invitations" end={end}>
      {created.value ? (
        <MadeBox text={created.value.url} label="Copy the link">
          Send this link to the person. It works once, and is not shown again: it expires{" "}
          <TimeAgo at={created.value.expiresAt} />.
        </MadeBox>
      ) : null}
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
      <LoadedTable
        of={invitations}
        rows={1}
        empty={<p class="quiet">No open invitations.</p>}
        columns={[
          ["For", "table-wide", toLabel],
          ["By", "only-wide quiet", ({ createdBy }) => createdBy],
          ["Created", "only-wide quiet", ({ createdAt }) => <TimeAgo at={createdAt} />],
          ["Expires", "quiet", ({ expiresAt }) => <TimeAgo at={expiresAt} />],
          [
            "Actions",
            "table-number",
            (invitation) => (
              <LinkButton
                isDanger
                about={toLabel(invitation)}
                onClick={() => revoke(invitation.id)}
              >
                Revoke
              </LinkButton>
            ),
          ],
        ]}
      />
    </Section>
  )
}

function toLabel({ note, email }: Item<"listInvitations">): string {
  return [note, email].filter(Boolean).join(", ") || "one person"
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
    <FormDialog
      title="Invite a person"
      onClose={props.onClose}
      onSubmit={submit}
      label="Create invitation"
      busyLabel="Creating…"
    >
      <Field label="Note" hint="For administrators: whom it is for.">
        <input class="input" maxLength={200} {...bindText(note)} />
      </Field>
      <Field label="Email" hint="Optional. The account gets this address as confirmed.">
        <input class="input" type="email" maxLength={254} {...bindText(email)} />
      </Field>
      <Select label="Valid for" choices={periods} {...bindChoice(hours)} />
      <details>
        <summary>Quotas</summary>
        <QuotaFields texts={quotas} />
      </details>
    </FormDialog>
  )
}
