import { Loaded } from "../components/page-states.tsx"
import { useTitle } from "../components/page-title.tsx"
import { RunView } from "../components/runs/run-view.tsx"
import type { PageProps } from "../page-props.ts"
import { useFollowedRun } from "../state/followed-run.ts"

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
