import { Loaded } from "../data/page-states.tsx"
import { useTitle } from "../frame/page-title.tsx"
import type { PageProps } from "../page-props.ts"
import { useFollowedRun } from "../runs/followed-run.ts"
import { RunView } from "../runs/run-view.tsx"

/** One run, with everything that is kept of it. */
export function Page({ runId = "" }: PageProps) {
  const run = useFollowedRun(runId)
  useTitle(run.state.kind === "ready" ? `Run of ${run.state.data.val.name}` : "Run")
  return (
    <Loaded of={run.state} onRetry={run.reload}>
      {(data) => <RunView run={data} onChange={run.reload} />}
    </Loaded>
  )
}
