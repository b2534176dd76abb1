import { PageHead } from "../../parts/page-head.tsx"
import { RunsView } from "../../runs/list/runs-view.tsx"

/** All runs of the account. */
export function Page() {
  return (
    <>
      <PageHead title="Runs" />
      <RunsView liveHref="/runs/live" />
    </>
  )
}
