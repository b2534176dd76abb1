import { usePoll } from "../data/poll.ts"
import { InvitationAnswers } from "../organisations/answers.tsx"
import { toRoleText } from "../organisations/role-texts.ts"
import { memberships } from "../session/owners.ts"
import { reloadMemberships } from "../session/sign-in.ts"

const pollMs = 60_000

/** The invitations of organisations that wait for an answer. */
export function InvitationNotices() {
  usePoll(pollMs, reloadMemberships)
  const open = memberships.value.filter(({ pending }) => pending)
  if (open.length === 0) return null
  return (
    <ul class="card invitation-notices" aria-label="Invitations">
      {open.map(({ org, role }) => (
        <li key={org.id} class="row wrap ruled session-row">
          <p>
            <a href={`/u/${org.username}`}>{org.username}</a> invites you as {toRoleText(role)}.
          </p>
          <InvitationAnswers org={org} />
        </li>
      ))}
    </ul>
  )
}
