import { EmptyState } from "../data/page-states.tsx"
import { RunsView } from "../runs/runs-view.tsx"
import { session } from "../session/session.ts"
import type { ValTabProps } from "./val-tab-props.ts"

/** The runs of a val: all of them for its owner, for others their own. */
export function RunsTab({ editing, isOwn }: ValTabProps) {
  if (session.value.kind !== "signed-in")
    return (
      <EmptyState icon="lock" title="Runs are for those who started them">
        <p>
          <a href="/sign-in">Sign in</a> to see yours.
        </p>
      </EmptyState>
    )
  return <RunsView valId={editing.val.value.id} isOwn={isOwn} />
}
