import { Mark, StatusBadge } from "../parts/badges.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import type { Schedule } from "./timing.ts"

/** Whether a schedule runs its val: active, failing or paused. */
export function ScheduleBadge({ schedule }: { schedule: Schedule }) {
  const { isPaused, isFailing, pausedReason } = schedule
  if (isPaused)
    return (
      <Mark of={["Paused", pausedReason === null ? "cancelled" : "failed"]} title={pausedReason} />
    )
  if (isFailing) return <Mark of={["Failing", "failed"]} title={toFailures(schedule)} />
  return <Mark of={["Active", "succeeded"]} />
}

/** How the last run ended. */
export function LastOutcome({ schedule }: { schedule: Schedule }) {
  const { lastRunAt, lastRunId, lastStatus } = schedule
  if (lastRunAt === null) return <span class="quiet">not run yet</span>
  const outcome = (
    <>
      {lastStatus === null ? null : <StatusBadge status={lastStatus} />}{" "}
      <TimeAgo at={lastRunAt} class="quiet" />
    </>
  )
  return lastRunId === null ? (
    <span class="nowrap last-outcome">{outcome}</span>
  ) : (
    <a class="nowrap last-outcome" href={`/runs/${lastRunId}`}>
      {outcome}
    </a>
  )
}

/** The failures in a row, in words. */
export function toFailures({ failureCount }: Schedule): string {
  return failureCount === 1
    ? "The last run failed."
    : `The last ${failureCount.toLocaleString("en")} runs failed.`
}
