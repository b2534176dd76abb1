import { EmptyState } from "../../ui/page-states.tsx"
import { RunsView } from "../runs/list/runs-view.tsx"
import { currentOwner } from "../session/owners.ts"
import { session } from "../session/session.ts"
import type { ValTabProps } from "./val-tab-props.ts"

/** The runs of a val: all for those who belong to its owner, their own for other users. */
export function RunsTab({ editing, isOwn }: ValTabProps) {
  if (session.value.kind !== "signed-in")
    return (
      <EmptyState icon="lock" title="Sign in to see your runs">
        <p>
          Only the owner of a val and the user who started a run can see it.{" "}
          <a href="/sign-in">Sign in</a>
        </p>
      </EmptyState>
    )
  const { id, name, author } = editing.val.value
  // The live logs are those of the current owner.
  const isFollowed = isOwn && author.id === currentOwner()?.id
  return (
    <RunsView
      valId={id}
      isOwn={isOwn}
      liveHref={isFollowed ? `/runs/live?val=${encodeURIComponent(name)}` : undefined}
    />
  )
}
