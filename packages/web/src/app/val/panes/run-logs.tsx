import { Bars } from "../../../ui/page-states.tsx"
import { Loaded } from "../../data/loaded.tsx"
import { useFollowedRun } from "../../runs/followed-run.ts"
import { RunLog } from "../../runs/log-view.tsx"

/** The logs of one run, while they arrive. */
export function RunLogs({ runId }: { runId: string }) {
  const run = useFollowedRun(runId)
  return (
    <Loaded of={run} skeleton={<Bars count={3} />}>
      {(data) => <RunLog run={data} />}
    </Loaded>
  )
}
