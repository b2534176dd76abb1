import { useTitle } from "../../../ui/page-title.ts"
import { Loaded } from "../../data/loaded.tsx"
import type { PageProps } from "../../page-props.ts"
import { useFollowedRun } from "../../runs/followed-run.ts"
import { RunView } from "../../runs/run-view.tsx"

/** One run with all recorded details. */
export function Page({ runId = "" }: PageProps) {
  const run = useFollowedRun(runId)
  useTitle(run.state.kind === "ready" ? `Run of ${run.state.data.val.name}` : "Run")
  return <Loaded of={run}>{(data) => <RunView run={data} onChange={run.reload} />}</Loaded>
}
