import { usePages } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { Section } from "../parts/section.tsx"
import { ScheduleBadge } from "../schedules/schedule-marks.tsx"

const limits = { schedules: 100, schedulesMs: 30_000 }

/** The schedules that need their owner; nothing while all is well. */
export function FailingSchedules() {
  const schedules = usePages("listMySchedules", {}, limits.schedules)
  usePoll(limits.schedulesMs, schedules.refresh)
  const { state } = schedules
  const failing =
    state.kind === "ready"
      ? state.data.items.filter(({ isFailing, pausedReason }) => isFailing || pausedReason !== null)
      : []
  if (failing.length === 0) return null
  return (
    <Section title="Failing schedules" kind="aside-block" end={<a href="/schedules">All</a>}>
      <ul>
        {failing.map((schedule) => (
          <li key={schedule.val.id}>
            <a class="aside-row" href={`/u/${schedule.val.username}/${schedule.val.name}/schedule`}>
              <span class="aside-name">{schedule.val.name}</span>
              <ScheduleBadge schedule={schedule} />
            </a>
          </li>
        ))}
      </ul>
    </Section>
  )
}
