import { EmptyState } from "../../ui/page-states.tsx"
import { usePages } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { LoadedTable } from "../parts/lists/loaded-table.tsx"
import { PageHead } from "../parts/page-head.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { LastOutcome, ScheduleBadge } from "../schedules/schedule-marks.tsx"

const pollMs = 5_000

/** All schedules of the account, with their last outcomes. */
export function Page() {
  const schedules = usePages("listMySchedules", {})
  usePoll(pollMs, schedules.poll)
  return (
    <>
      <PageHead title="Schedules" />
      <LoadedTable
        of={schedules}
        rows={5}
        empty={
          <EmptyState icon="timer" title="No schedules">
            <p>
              A val of type Interval runs by itself. Create one, or change the type of a val in its
              settings; then choose its times in the tab Schedule.
            </p>
            <a class="button" href="/new?type=interval">
              New interval val
            </a>
          </EmptyState>
        }
        toKey={({ file }) => file.id}
        columns={[
          ["State", "", (schedule) => <ScheduleBadge schedule={schedule} />],
          [
            "Val",
            "table-wide",
            ({ val, file, branch, description, pausedReason }) => (
              <>
                <a class="table-name row-link" href={`/u/${val.username}/${val.name}/schedule`}>
                  {val.name}
                </a>
                {file.id === val.id ? null : (
                  <span class="my-val-place">
                    {file.path} on {branch.name}
                  </span>
                )}
                <span class="my-val-place my-val-time">{description}</span>
                {pausedReason ? <span class="small run-reason">{pausedReason}</span> : null}
              </>
            ),
          ],
          ["Next", "quiet", ({ nextAt: [next] }) => (next ? <TimeAgo at={next} /> : "—")],
          ["Last run", "only-wide nowrap", (schedule) => <LastOutcome schedule={schedule} />],
        ]}
      />
    </>
  )
}
