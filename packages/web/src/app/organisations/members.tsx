import type { Item, Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { setTo } from "../../ui/bind.ts"
import { api } from "../api.ts"
import { usePages } from "../data/pages.ts"
import { navigate } from "../frame/location.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import { MadeBox } from "../parts/buttons/copy-text.tsx"
import { LinkButton } from "../parts/buttons/link-button.tsx"
import { reportFailure } from "../parts/buttons/use-action.ts"
import { Select } from "../parts/forms/field.tsx"
import { LoadedTable } from "../parts/lists/loaded-table.tsx"
import { Section } from "../parts/section.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { type Membership, type Role, roleIn } from "../session/owners.ts"
import { viewer } from "../session/session.ts"
import { reloadMemberships } from "../session/sign-in.ts"
import { InviteDialog } from "./invite-dialog.tsx"
import { shortRoleChoices } from "./role-texts.ts"

type Org = Membership["org"]
type Member = Item<"listOrgMembers">
type Link = Output<"createOrgInvitation">

/** The people in an organisation. Owners invite, remove and give roles; others may leave. */
export function Members({ org }: { org: Org }) {
  const isOwner = roleIn(org.id) === "owner"
  const members = usePages("listOrgMembers", { org_id: org.id })
  const link = useSignal<Link | undefined>(undefined)
  const isFormOpen = useSignal(false)
  const known = members.state.kind === "ready" ? members.state.data.items : []
  const end = isOwner ? (
    <Button icon="plus" onClick={setTo(isFormOpen, true)}>
      Invite
    </Button>
  ) : (
    <span class="quiet">Owners invite and remove people.</span>
  )
  return (
    <>
      <Section title="Members" kind="section-first" end={end}>
        {link.value ? (
          <MadeBox text={link.value.url} label="Copy the link">
            Send this link to the person. It works once, and is not shown again: it expires{" "}
            <TimeAgo at={link.value.expiresAt} />.
          </MadeBox>
        ) : null}
        {isFormOpen.value ? (
          <InviteDialog
            org={org}
            isMember={(username) => isMember(known, username)}
            onClose={setTo(isFormOpen, false)}
            onDone={(created) => {
              isFormOpen.value = false
              if (created) link.value = created
              members.reload()
            }}
          />
        ) : null}
        <LoadedTable
          of={members}
          rows={3}
          empty={null}
          toKey={({ user }) => user.id}
          columns={[
            ["Name", "table-wide", (member) => <Name member={member} />],
            [
              "Role",
              "",
              (member) => (
                <RoleCell org={org} member={member} mayChange={isOwner} onChange={members.reload} />
              ),
            ],
            ["Since", "only-wide quiet", ({ createdAt }) => <TimeAgo at={createdAt} />],
            [
              "Actions",
              "table-number",
              (member) => (
                <RemoveButton
                  org={org}
                  member={member}
                  isOwner={isOwner}
                  onChange={members.reload}
                />
              ),
            ],
          ]}
          isScrolling
        />
      </Section>
      {isOwner ? (
        <OpenLinks
          // A new link begins the list anew.
          key={link.value?.id ?? ""}
          org={org}
          shown={link.value}
          onRevoke={setTo(link, undefined)}
        />
      ) : null}
    </>
  )
}

function isMember(known: readonly Member[], username: string): boolean {
  return known.some(
    ({ user, pending }) => !pending && user.username.toLowerCase() === username.toLowerCase(),
  )
}

function Name({ member: { user, pending } }: { member: Member }) {
  return (
    <>
      <a class="table-name" href={`/u/${user.username}`}>
        {user.username}
      </a>
      {user.id === viewer()?.id ? <span class="quiet"> (you)</span> : null}
      {pending ? <span class="badge">invited</span> : null}
    </>
  )
}

function RoleCell(props: {
  readonly org: Org
  readonly member: Member
  readonly mayChange: boolean
  readonly onChange: () => void
}) {
  const { org, member, mayChange, onChange } = props
  const { user, role } = member
  const label = shortRoleChoices.find(({ value }) => value === role)?.label
  if (!mayChange) return <>{label}</>
  const change = async (role: Role) => {
    try {
      await api.putOrgMember({ org_id: org.id, user_id: user.id, role })
      showDone(`${user.username} has another role now`)
      if (user.id === viewer()?.id) await reloadMemberships()
    } finally {
      // After a refusal the list shows the role as it is.
      onChange()
    }
  }
  return (
    <Select
      label={`Role of ${user.username}`}
      isLabelHidden
      value={role}
      choices={shortRoleChoices}
      onChange={(role) => void reportFailure(() => change(role))}
    />
  )
}

/** Removes a member, takes an invitation back, or lets the user leave. */
function RemoveButton(props: {
  readonly org: Org
  readonly member: Member
  readonly isOwner: boolean
  readonly onChange: () => void
}) {
  const { org, member, isOwner, onChange } = props
  const { user, pending } = member
  const isSelf = user.id === viewer()?.id
  if (!(isOwner || isSelf)) return null
  const remove = async () => {
    if (!confirm(toQuestion(org, member, isSelf))) return
    await api.removeOrgMember({ org_id: org.id, user_id: user.id })
    if (!isSelf) {
      showDone(pending ? "The invitation is revoked" : `${user.username} is removed`)
      onChange()
      return
    }
    navigate("/account/organisations")
    await reloadMemberships()
  }
  return (
    <LinkButton isDanger about={isSelf ? org.username : user.username} onClick={remove}>
      {isSelf ? "Leave" : pending ? "Revoke" : "Remove"}
    </LinkButton>
  )
}

function toQuestion(org: Org, { user, pending }: Member, isSelf: boolean): string {
  const name = user.username
  if (pending) return `Revoke the invitation of ${name}?`
  const stays = `The vals stay with ${org.username}, also those that`
  if (isSelf)
    return `Leave ${org.username}? You lose access to its private vals, runs and data at once. ${stays} you have made.`
  return `Remove ${name} from ${org.username}? ${name} loses access to its private vals, runs and data at once, and tokens of ${name} stop working for it. ${stays} ${name} has made.`
}

/** The links that are not used yet. */
function OpenLinks(props: {
  readonly org: Org
  readonly shown: Link | undefined
  readonly onRevoke: () => void
}) {
  const { org, shown, onRevoke } = props
  const invitations = usePages("listOrgInvitations", { org_id: org.id })
  const revoke = async (id: string) => {
    await api.revokeOrgInvitation({ org_id: org.id, invitation_id: id })
    if (shown?.id === id) onRevoke()
    showDone("The invitation is revoked")
    invitations.reload()
  }
  return (
    <Section title="Open links">
      <LoadedTable
        of={invitations}
        rows={1}
        empty={<p class="quiet">None.</p>}
        columns={[
          ["For", "table-wide", ({ email }) => email ?? "one person"],
          ["Role", "", ({ role }) => role],
          ["By", "only-wide quiet", ({ createdBy }) => createdBy],
          ["Expires", "quiet", ({ expiresAt }) => <TimeAgo at={expiresAt} />],
          [
            "Actions",
            "table-number",
            ({ id, email }) => (
              <LinkButton
                isDanger
                about={`the link for ${email ?? "one person"}`}
                onClick={() => revoke(id)}
              >
                Revoke
              </LinkButton>
            ),
          ],
        ]}
        isScrolling
      />
    </Section>
  )
}
