import { Bars } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { usePoll } from "../data/poll.ts"
import { useResource } from "../data/resource.ts"
import { showDone } from "../frame/toast-list.ts"
import { Mark } from "../parts/badges.tsx"
import { Button } from "../parts/buttons/button.tsx"
import { ScheduleEditor, type SchedulePlace } from "../schedules/schedule-editor.tsx"
import { LastOutcome, ScheduleBadge, toFailures } from "../schedules/schedule-marks.tsx"
import type { Schedule } from "../schedules/timing.ts"
import { findSchedule } from "./panes/file-schedules.ts"
import type { ValTabProps } from "./val-tab-props.ts"

const pollMs = 2_000

/** The schedule of the file that Run starts. */
export function ScheduleTab(
  props: Pick<ValTabProps, "editing"> & {
    readonly onChange?: (schedule: Schedule | undefined) => void
  },
) {
  const { editing, onChange } = props
  const { id } = editing.val.value
  const place = editing.place()
  const schedule = useResource(`schedule ${id} ${place.branch} ${place.file}`, (signal) =>
    findSchedule(id, place, signal),
  )
  usePoll(pollMs, schedule.poll)
  const set = (changed: Schedule | undefined) => {
    schedule.set(changed)
    onChange?.(changed)
  }
  if (editing.findStarted() === undefined)
    return <p class="quiet">The file is new. It has a schedule when it is saved.</p>
  return (
    <Loaded of={schedule} skeleton={<Bars count={6} />}>
      {(found) => (
        <>
          {found ? (
            <ScheduleState schedule={found} place={place} onChange={set} />
          ) : (
            <p class="row wrap small schedule-none">
              <Mark of={["No schedule", "cancelled"]} />
              The val does not run by itself. Choose when it should, and save.
            </p>
          )}
          <ScheduleEditor
            key={found ? "saved" : "new"}
            valId={id}
            place={place}
            schedule={found}
            onSaved={set}
          />
        </>
      )}
    </Loaded>
  )
}

function ScheduleState(props: {
  readonly schedule: Schedule
  readonly place: SchedulePlace
  readonly onChange: (schedule: Schedule | undefined) => void
}) {
  const { schedule, place, onChange } = props
  const { isPaused, isFailing, pausedReason, val } = schedule
  const pause = async () => {
    onChange(await api.putSchedule({ val_id: val.id, ...place, isPaused: !isPaused }))
    showDone(isPaused ? "The schedule runs again" : "The schedule is paused")
  }
  const remove = async () => {
    if (!confirm("Remove the schedule? The val and its runs stay.")) return
    await api.deleteSchedule({ val_id: val.id, ...place })
    onChange(undefined)
    showDone("The schedule is removed")
  }
  return (
    <section class="schedule-state card card-pad" aria-label="State of the schedule">
      <p class="row wrap schedule-line">
        <ScheduleBadge schedule={schedule} />
        <span class="quiet">Last run:</span>
        <LastOutcome schedule={schedule} />
        <span class="schedule-actions">
          <Button kind="quiet small" icon={isPaused ? "play" : "pause"} action={pause}>
            {isPaused ? "Resume" : "Pause"}
          </Button>
          <Button kind="danger-quiet small" action={remove}>
            Remove
          </Button>
        </span>
      </p>
      {pausedReason ? <p class="bad">{pausedReason}</p> : null}
      {isFailing && !pausedReason ? <p class="bad">{toFailures(schedule)}</p> : null}
    </section>
  )
}
