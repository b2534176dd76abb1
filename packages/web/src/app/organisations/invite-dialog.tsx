import type { Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { bindChoice, bindText } from "../../ui/bind.ts"
import { api } from "../api.ts"
import { showDone } from "../frame/toast-list.ts"
import { Field, Select } from "../parts/forms/field.tsx"
import { FormDialog } from "../parts/forms/form-dialog.tsx"
import type { Membership, Role } from "../session/owners.ts"
import { roleChoices } from "./role-texts.ts"

const ways = [
  { value: "name", label: "By name: a user of this server" },
  { value: "link", label: "By a link that you send" },
] as const

const hourMs = 3_600_000
const periods = [
  { value: "24", label: "1 day" },
  { value: "72", label: "3 days" },
  { value: "168", label: "1 week" },
  { value: "720", label: "30 days" },
] as const

/** Invites a person into an organisation. By a link, `onDone` gets it. */
export function InviteDialog(props: {
  readonly org: Membership["org"]
  /** Whether the user is known to belong to it. */
  readonly isMember: (username: string) => boolean
  readonly onClose: () => void
  readonly onDone: (link?: Output<"createOrgInvitation">) => void
}) {
  const { org, isMember, onClose, onDone } = props
  const way = useSignal<(typeof ways)[number]["value"]>("name")
  const name = useSignal("")
  const email = useSignal("")
  const role = useSignal<Role>("member")
  const hours = useSignal<(typeof periods)[number]["value"]>("72")
  const inviteByName = async () => {
    const username = name.value.trim().replace(/^@/, "")
    if (isMember(username)) throw new Error(`${username} belongs to ${org.username} already`)
    const user = await api.getUserByName({ username })
    const { pending } = await api.putOrgMember({
      org_id: org.id,
      user_id: user.id,
      role: role.value,
    })
    showDone(
      pending
        ? `${user.username} is invited, and belongs to ${org.username} after accepting`
        : `${user.username} belonged to ${org.username} already, and has this role now`,
    )
    onDone()
  }
  const inviteByLink = async () => {
    const input = {
      org_id: org.id,
      role: role.value,
      email: email.value.trim() || null,
      expiresAt: new Date(Date.now() + Number(hours.value) * hourMs).toISOString(),
    }
    onDone(await api.createOrgInvitation(input))
  }
  const isByName = way.value === "name"
  return (
    <FormDialog
      title={`Invite into ${org.username}`}
      onClose={onClose}
      onSubmit={isByName ? inviteByName : inviteByLink}
      label={isByName ? "Invite" : "Create link"}
      busyLabel={isByName ? "Inviting…" : "Creating…"}
    >
      <Select label="How" choices={ways} {...bindChoice(way)} />
      {isByName ? (
        <Field label="User name" hint="The person is asked first, on their home page.">
          <input
            class="input"
            required
            maxLength={31}
            autocomplete="off"
            spellcheck={false}
            {...bindText(name)}
          />
        </Field>
      ) : (
        <>
          <Field
            label="Email"
            hint="Optional. Only an account that has confirmed this address can use the link."
          >
            <input class="input" type="email" maxLength={254} {...bindText(email)} />
          </Field>
          <Select label="Valid for" choices={periods} {...bindChoice(hours)} />
        </>
      )}
      <Select label="Role" choices={roleChoices} {...bindChoice(role)} />
    </FormDialog>
  )
}
