import { api } from "../api.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import { chooseOwner, type Membership } from "../session/owners.ts"
import { reloadMemberships } from "../session/sign-in.ts"

/** Accepts the invitation of an organisation, or declines it. */
export function InvitationAnswers({ org: { id, username } }: Pick<Membership, "org">) {
  const accept = async () => {
    await api.acceptMembership({ org_id: id })
    await reloadMemberships()
    showJoined(id, username)
  }
  const decline = async () => {
    await api.declineMembership({ org_id: id })
    await reloadMemberships()
    showDone(`The invitation of ${username} is declined`)
  }
  return (
    <span class="row invitation-answers">
      <Button kind="small" label={`Accept the invitation of ${username}`} action={accept}>
        Accept
      </Button>
      <Button kind="quiet small" label={`Decline the invitation of ${username}`} action={decline}>
        Decline
      </Button>
    </span>
  )
}

/** Says that the user belongs to an organisation now, and offers to act for it. */
export function showJoined(id: string, username: string): void {
  showDone(`You belong to ${username} now`, {
    label: `Act for ${username}`,
    run: () => chooseOwner(id),
  })
}
