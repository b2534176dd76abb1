import { Bars } from "../../ui/page-states.tsx"
import { toDuration } from "../../ui/units.ts"
import { Loaded } from "../data/loaded.tsx"
import { StatusBadge } from "../parts/badges.tsx"
import { useFollowedRun } from "./followed-run.ts"
import { LogView } from "./log-view.tsx"
import { RunErrorView } from "./run-error-view.tsx"

/** A run that was just started: its outcome and its logs, while they arrive. */
export function RunSummary({ runId }: { runId: string }) {
  const run = useFollowedRun(runId)
  return (
    <Loaded of={run} skeleton={<Bars count={3} />}>
      {({ id, status, durationMs, error, logs, logsTruncated, logsOmitted }) => {
        const isLive = status === "queued" || status === "running"
        return (
          <div class="run-summary">
            <p class="run-line">
              <StatusBadge status={status} />
              {isLive ? null : <span class="quiet">{toDuration(durationMs)}</span>}
              <a class="run-link" href={`/runs/${id}`}>
                Open the run
              </a>
            </p>
            {error ? <RunErrorView error={error} /> : null}
            <LogView
              lines={logs}
              isLive={isLive}
              isTruncated={logsTruncated}
              omitted={logsOmitted}
            />
          </div>
        )
      }}
    </Loaded>
  )
}
