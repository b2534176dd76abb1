import type { EndedRun } from "../../domain/queue/queued-run.ts"
import { findNotice, isFailure, toPausedReason } from "../../domain/schedules/failures.ts"
import { firstRow } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { nothing, raw, type Statement, type Statements, sql } from "../database/sql.ts"

interface CountRow {
  readonly failure_count: number
  readonly is_paused: number
}

/**
 * Counts the failures in a row of schedules whose runs have ended, pauses a schedule that fails
 * again and again, and lets due times run that wait for one of these runs. Locks schedules in the
 * order of their vals.
 */
export function* noteScheduledRuns(dialect: Dialect, ended: readonly EndedRun[]): Statements<void> {
  const runs = ended.filter(({ source }) => source === "interval")
  for (const run of runs.toSorted((left, right) => (left.valId < right.valId ? -1 : 1))) {
    const schedule = yield* firstRow<CountRow>(sql`
      update schedules set failure_count = ${countAfter(run)},
        last_status = case when last_run_id = ${run.id} then ${run.status} else last_status end,
        released_at = case when waits_for_id = ${run.id} then ${dialect.now} else released_at end,
        waits_for_id = case when waits_for_id = ${run.id} then null else waits_for_id end
      where val_id = ${run.valId} returning failure_count, is_paused`)
    if (schedule && isFailure(run.status)) yield* noteFailure(dialect, run, schedule)
  }
}

// A run that was cancelled says nothing about the val.
function countAfter({ status }: EndedRun): Statement {
  if (isFailure(status)) return raw("failure_count + 1")
  return raw(status === "succeeded" ? "0" : "failure_count")
}

function* noteFailure(dialect: Dialect, run: EndedRun, schedule: CountRow): Statements<void> {
  const { failure_count: count } = schedule
  const notice = findNotice(count, schedule.is_paused === 1)
  if (notice === undefined) return
  const pause =
    notice === "failing"
      ? nothing
      : sql`, is_paused = 1, paused_reason = ${toPausedReason(count)}, next_at = null, waits_for_id = null,
          updated_at = ${dialect.now}`
  // The owner is told by a job: this may run on a thread that cannot.
  yield sql`update schedules set notice = ${notice} ${pause} where val_id = ${run.valId}`
}
