import {
  type Dialect,
  firstRow,
  inBatches,
  list,
  raw,
  type Statement,
  type Statements,
  sql,
} from "@hamlet/database"
import type { AddedSchedule } from "../../domain/files/file-saves.ts"
import {
  type ScheduleChange,
  type ScheduleLimits,
  toFirstSettings,
} from "../../domain/schedules/schedules.ts"
import type { Val } from "../../domain/vals/vals.ts"

/** The val whose files have schedules. */
export type ScheduleOwner = Pick<Val, "id" | "ownerId">

/** The type of the file `f` in the newest version of its branch; null if it was deleted. */
export const fileType = raw(`(select case when t.file_id = f.id then t.type end from states t
  where t.branch_id = f.branch_id and t.path = f.path order by t.since desc limit 1)`)

/**
 * Gives files schedules that have just become of type `interval`; one that has a schedule keeps it.
 * Those of other branches than `main` and of forks are paused until their owner starts them; of the
 * others `start` says whether they run at once. Returns the new ones.
 */
export function* addSchedules(
  dialect: Dialect,
  val: ScheduleOwner,
  fileIds: readonly string[],
  limits: ScheduleLimits,
  start: "now" | "later" | "paused",
): Statements<readonly AddedSchedule[]> {
  if (fileIds.length === 0) return []
  const all: AddedSchedule[] = []
  const now = yield* readTime(dialect)
  const isStarted = start !== "paused"
  let active = isStarted ? yield* countActive(dialect, val.ownerId, limits.perUserMax) : 0
  for (const fileId of fileIds) {
    const settings = toFirstSettings(limits, isStarted ? active : undefined, now, start === "now")
    const added = yield* firstRow`
      ${insertSchedule(val, fileId, settings, now)} on conflict (file_id) do nothing returning file_id`
    if (!added) continue
    const { timing, isPaused, pausedReason, nextAt } = settings
    all.push({ fileId, ...timing, isPaused, pausedReason, nextAt })
    if (!isPaused) active += 1
  }
  return all
}

/** The time of the database. */
export function* readTime(dialect: Dialect): Statements<number> {
  const row = yield* firstRow<{ now: number }>`select ${dialect.now} as now`
  return row?.now ?? 0
}

/**
 * How many schedules of a user are not paused, counted up to `countMax`. Locks the row of the user, so
 * that concurrent new schedules are counted one after the other.
 */
export function* countActive(
  dialect: Dialect,
  ownerId: string,
  countMax: number,
): Statements<number> {
  yield sql`select id from users where id = ${ownerId} ${dialect.forUpdate}`
  const row = yield* firstRow<{ count: number }>`
    select count(*) as count from (
      select 1 as one from schedules where owner_id = ${ownerId} and is_paused = 0 limit ${countMax}) active`
  return row?.count ?? 0
}

/** Inserts a schedule; what follows says what happens if the file has one. */
export function insertSchedule(
  val: ScheduleOwner,
  fileId: string,
  { timing, ...change }: ScheduleChange,
  now: number,
): Statement {
  return sql`
    insert into schedules (file_id, val_id, owner_id, cron, every, time_zone, overlap, catch_up, is_paused, paused_reason,
      anchor_at, next_at, failure_count, created_at, updated_at)
    values (${fileId}, ${val.id}, ${val.ownerId}, ${timing.cron}, ${timing.every}, ${timing.timeZone}, ${change.overlap}, ${change.catchUp},
      ${change.isPaused ? 1 : 0}, ${change.pausedReason}, ${change.anchorAt}, ${change.nextAt}, ${change.failureCount}, ${now}, ${now})`
}

/** A file with a schedule, and its copy on another branch. */
export interface ScheduleCopy {
  readonly from: string
  readonly to: string
}

/** Copies the settings of schedules to the files of a new branch. The copies are paused. */
export function* copySchedules(
  dialect: Dialect,
  val: ScheduleOwner,
  files: readonly ScheduleCopy[],
  limits: ScheduleLimits,
): Statements<void> {
  if (files.length === 0) return
  const table = dialect.tableOf(
    files.map(({ from, to }) => ({ old_file_id: from, new_file_id: to })),
    { old_file_id: "id", new_file_id: "id" },
  )
  yield sql`
    insert into schedules (file_id, val_id, owner_id, cron, every, time_zone, overlap, catch_up, is_paused, anchor_at,
      failure_count, created_at, updated_at)
    select new_file_id, s.val_id, s.owner_id, s.cron, s.every, s.time_zone, s.overlap, s.catch_up, 1, ${dialect.now}, 0, ${dialect.now}, ${dialect.now}
    from ${table} cross join schedules s where s.file_id = old_file_id`
  const copies = files.map(({ to }) => to)
  yield* addSchedules(dialect, val, copies, limits, "paused")
}

/** Deletes the schedules of files that were deleted. Their runs go on. */
export function* deleteSchedules(fileIds: readonly string[]): Statements<void> {
  for (const ids of inBatches(fileIds))
    yield sql`delete from schedules where file_id in (${list(ids)})`
}
