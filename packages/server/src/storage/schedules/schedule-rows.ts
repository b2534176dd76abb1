import type { RunStatus } from "../../domain/runs/runs.ts"
import type { CatchUp, Overlap, Schedule, ScheduledVal } from "../../domain/schedules/schedules.ts"
import type { Privacy, ValType } from "../../domain/vals/vals.ts"
import { raw } from "../database/sql.ts"
import { toTime } from "../vals/val-rows.ts"

/** The columns of a val that its schedule mentions. */
export interface ScheduledValRow {
  readonly val_id: string
  readonly name: string
  readonly version: number
  readonly privacy: Privacy
  readonly type: ValType
  readonly owner_id: string
  readonly owner_name: string
}

/** The columns of a ScheduledValRow; `v` is the val, `u` its owner. */
export const scheduledValColumns = raw(
  "v.id as val_id, v.name, v.version, v.privacy, v.type, v.owner_id, u.username as owner_name",
)

/** A schedule joined with its val, the val's owner and its last run. */
export interface ScheduleRow extends ScheduledValRow {
  readonly cron: string | null
  readonly every: string | null
  readonly time_zone: string
  readonly overlap: Overlap
  readonly catch_up: CatchUp
  readonly is_paused: number
  readonly paused_reason: string | null
  readonly anchor_at: number | string
  readonly next_at: number | string | null
  readonly last_run_at: number | string | null
  readonly last_run_id: string | null
  readonly last_status: RunStatus | null
  readonly failure_count: number
  readonly created_at: number | string
  readonly updated_at: number | string
}

/**
 * The columns of a ScheduleRow; `s` is the schedule, `r` its last run. The schedule has the status of
 * a run that was deleted; of others it is read from the run.
 */
export const scheduleColumns = raw(`${scheduledValColumns.text}, s.cron, s.every, s.time_zone,
  s.overlap, s.catch_up, s.is_paused, s.paused_reason, s.anchor_at, s.next_at, s.last_run_at,
  s.last_run_id, coalesce(r.status, s.last_status) as last_status, s.failure_count, s.created_at,
  s.updated_at`)

/** The joins for these columns. */
export const scheduleJoins = raw(`join vals v on v.id = s.val_id join users u on u.id = s.owner_id
  left join runs r on r.id = s.last_run_id`)

/** Converts a row to a schedule of the domain. */
export function toSchedule(row: ScheduleRow): Schedule {
  return {
    val: toScheduledVal(row),
    timing: { cron: row.cron, every: row.every, timeZone: row.time_zone },
    overlap: row.overlap,
    catchUp: row.catch_up,
    isPaused: row.is_paused === 1,
    pausedReason: row.paused_reason,
    anchorAt: Number(row.anchor_at),
    nextAt: toTime(row.next_at),
    lastRunAt: toTime(row.last_run_at),
    lastRunId: row.last_run_id,
    lastStatus: row.last_status,
    failureCount: row.failure_count,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  }
}

/** Converts the columns of the val. */
export function toScheduledVal(row: ScheduledValRow): ScheduledVal {
  return {
    id: row.val_id,
    name: row.name,
    version: row.version,
    privacy: row.privacy,
    type: row.type,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
  }
}
