import { EmptyState } from "../../ui/page-states.tsx"
import { useTitle } from "../../ui/page-title.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { DataTable } from "../parts/data-table.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { LastOutcome, ScheduleBadge } from "../schedules/schedule-marks.tsx"
import type { Schedule } from "../schedules/timing.ts"

const pollMs = 5_000

/** All schedules of the account, with their last outcomes. */
export function Page() {
  useTitle("Schedules")
  const schedules = usePages("listMySchedules", {})
  usePoll(pollMs, schedules.refresh)
  return (
    <>
      <div class="page-head">
        <h1>Schedules</h1>
      </div>
      <LoadedPages
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
      >
        {(items) => (
          <DataTable
            columns={{
              State: "",
              Val: "",
              Next: "",
              "Last run": "only-wide",
            }}
          >
            {items.map((schedule) => (
              <Row key={schedule.val.id} schedule={schedule} />
            ))}
          </DataTable>
        )}
      </LoadedPages>
    </>
  )
}

function Row({ schedule }: { schedule: Schedule }) {
  const { val, description, nextAt, pausedReason } = schedule
  const [next] = nextAt
  return (
    <tr>
      <td>
        <ScheduleBadge schedule={schedule} />
      </td>
      <td class="table-wide">
        <a class="table-name row-link" href={`/u/${val.username}/${val.name}/schedule`}>
          {val.name}
        </a>
        <span class="my-val-place my-val-time">{description}</span>
        {pausedReason ? <span class="run-reason">{pausedReason}</span> : null}
      </td>
      <td class="quiet">{next === undefined ? "—" : <TimeAgo at={next} />}</td>
      <td class="only-wide schedule-last">
        <LastOutcome schedule={schedule} />
      </td>
    </tr>
  )
}
