import { Bars } from "../../../ui/page-states.tsx"
import { Loaded } from "../../data/loaded.tsx"
import { type RunDetail, useFollowedRun } from "../../runs/followed-run.ts"
import { RunLog } from "../../runs/log-view.tsx"
import { type GoToStack, RunErrorView } from "../../runs/run-error-view.tsx"

/** The logs of one run, while they arrive. */
export function RunLogs({ runId }: { readonly runId: string }) {
  const run = useFollowedRun(runId)
  return (
    <Loaded of={run} skeleton={<Bars count={3} />}>
      {(data) => <RunLog run={data} />}
    </Loaded>
  )
}

/** How one run went: its error with the stack, and its logs. */
export function RunReport(props: { readonly runId: string; readonly onGoTo: GoToStack }) {
  const run = useFollowedRun(props.runId)
  return (
    <Loaded of={run} skeleton={<Bars count={3} />}>
      {(data) => <RunEnd run={data} onGoTo={props.onGoTo} />}
    </Loaded>
  )
}

/** The error and the log of a run that is loaded already. */
export function RunEnd({ run, onGoTo }: { readonly run: RunDetail; readonly onGoTo: GoToStack }) {
  return (
    <>
      {run.error ? <RunErrorView error={run.error} onGoTo={onGoTo} isRepeated /> : null}
      {run.error && run.logs.length === 0 ? null : <RunLog run={run} />}
    </>
  )
}
