import {
  type Database,
  type Dialect,
  firstRow,
  listOrder,
  raw,
  readPage,
  type Script,
  type Statement,
  type Statements,
  sql,
} from "@hamlet/database"
import type { ValMention } from "../../domain/comments/comments.ts"
import { mainBranch } from "../../domain/modules/import-address.ts"
import type { FailingSchedule } from "../../domain/schedules/failures.ts"
import type {
  Schedule,
  ScheduleChange,
  SchedulePlace,
  ScheduleState,
  ScheduleStore,
} from "../../domain/schedules/schedules.ts"
import type { AssertVal } from "../../domain/vals/vals.ts"
import { lockVals } from "../references/row-locks.ts"
import { countActive, fileType, insertSchedule, readTime } from "./file-schedules.ts"
import { correctTimes, findSoon, findWork, fireDue, releaseWaiting } from "./fire-schedules.ts"
import { tellOwners } from "./tell-owners.ts"

/** Schedules in the database. `toValPage` gives the address of a val's page, for notices. */
export function createScheduleStore(
  db: Database,
  newId: () => string,
  toValPage: FailingSchedule["toValPage"],
): ScheduleStore {
  const { dialect } = db
  return {
    async find(valId, place) {
      const target = await db.first<TargetRow>(selectTarget(valId, place))
      if (!target?.file) return undefined
      const row = await db.first<Schedule>(selectSchedule(target.file.id))
      return row
    },
    listOfOwner: (ownerId, page) =>
      readPage(db, page, byTime)`
        select ${scheduleColumns} from schedules s ${scheduleJoins} where s.owner_id = ${ownerId}`,
    put: (valId, place, change, activeMax) =>
      db.write(() => putSchedule(dialect, valId, place, change, activeMax), { inTurnOf: valId }),
    delete: (valId, place, assert) =>
      db.write(() => deleteSchedule(valId, place, assert), { inTurnOf: valId }),
    findWork: () => findWork(db),
    findSoon: (withinMs, idleMs, countMax) => findSoon(db, withinMs, idleMs, countMax),
    fireDue: (countMax) => db.write(() => fireDue(dialect, countMax, newId)),
    releaseWaiting: () => db.write(() => releaseWaiting(dialect)),
    correctTimes: (after, countMax) => correctTimes(db, after, countMax),
    tellOwners: (countMax) => db.write(() => tellOwners(dialect, countMax, newId, toValPage)),
  }
}

const byTime = listOrder<Schedule>("s.created_at, s.file_id", ["time", "id"], (it) => [
  it.createdAt,
  it.file.id,
])

function selectSchedule(fileId: string): Statement {
  return sql`select ${scheduleColumns} from schedules s ${scheduleJoins} where s.file_id = ${fileId}`
}

/** A val, and the file of it that is meant; null also if the file was deleted. */
interface TargetRow {
  readonly val: ValMention
  readonly branch: ScheduleState["branch"] | null
  readonly file: ScheduleState["file"] | null
}

function selectTarget(valId: string, { path, branch }: SchedulePlace): Statement {
  const wanted = sql`coalesce(${path ?? null}, n.entry_path)`
  return sql`
    select ${mentionColumns}, b.id as branch__id, b.name as branch__name, c.file_id as file__id, c.path as file__path, c.type as file__type
    from vals v join branches m on m.id = v.id join users u on u.id = v.owner_id
    left join branches b on b.val_id = v.id and b.name_key = ${(branch ?? mainBranch).toLowerCase()}
    left join versions n on n.branch_id = b.id and n.version = b.version
    left join states c on c.branch_id = b.id and c.path = ${wanted} and c.since =
      (select max(l.since) from states l where l.branch_id = b.id and l.path = ${wanted})
    where v.id = ${valId}`
}

function* findTarget(
  valId: string,
  place: SchedulePlace,
): Statements<Omit<ScheduleState, "current" | "now"> | undefined> {
  const row = yield* firstRow<TargetRow>(selectTarget(valId, place))
  if (!row) return undefined
  return { val: row.val, branch: row.branch ?? undefined, file: row.file ?? undefined }
}

function* putSchedule(
  dialect: Dialect,
  valId: string,
  place: SchedulePlace,
  change: (state: ScheduleState) => ScheduleChange,
  activeMax: number,
): Script<Schedule | "full" | undefined> {
  // Saves lock the val before the row of its owner too.
  yield* lockVals(dialect, { valId })
  const target = yield* findTarget(valId, place)
  if (!target) return undefined
  const { val, file } = target
  const active = yield* countActive(dialect, val.ownerId, activeMax)
  // The row is locked, so that the schedule is not fired meanwhile.
  yield sql`select file_id from schedules where file_id = ${file?.id ?? null} ${dialect.forUpdate}`
  const now = yield* readTime(dialect)
  const current = file && (yield* firstRow<Schedule>(selectSchedule(file.id)))
  const changed = change({ ...target, current, now })
  if (!file) return undefined
  const isStarted = !changed.isPaused && (!current || current.isPaused)
  if (isStarted && active >= activeMax) return "full"
  yield upsertSchedule(val, file.id, changed, now)
  return yield* firstRow<Schedule>(selectSchedule(file.id))
}

/** A schedule that starts anew waits for no run. */
function upsertSchedule(
  val: ValMention,
  fileId: string,
  change: ScheduleChange,
  now: number,
): Statement {
  return sql`${insertSchedule(val, fileId, change, now)}
    on conflict (file_id) do update set cron = excluded.cron, every = excluded.every, time_zone = excluded.time_zone,
      overlap = excluded.overlap, catch_up = excluded.catch_up, is_paused = excluded.is_paused,
      paused_reason = excluded.paused_reason, anchor_at = excluded.anchor_at, next_at = excluded.next_at,
      waits_for_id = case when schedules.next_at = excluded.next_at then schedules.waits_for_id end,
      failure_count = excluded.failure_count, updated_at = excluded.updated_at`
}

function* deleteSchedule(
  valId: string,
  place: SchedulePlace,
  assert: AssertVal<ValMention>,
): Script<boolean | undefined> {
  const target = yield* findTarget(valId, place)
  if (!target) return undefined
  assert(target.val)
  if (!target.file) return false
  const deleted = yield* firstRow`
    delete from schedules where file_id = ${target.file.id} returning file_id`
  return deleted !== undefined
}

/** The columns of the val of a schedule; `v` is the val, `m` its main branch, `u` its owner. */
const mentionColumns = raw(
  `v.id as val__id, v.name as val__name, m.version as val__version, v.privacy as val__privacy,
  v.owner_id as val__owner_id, u.username as val__owner_name`,
)

/**
 * The columns of a schedule; `s` is the schedule, `f` its file, `b` the branch of the file, `r` its
 * last run. The schedule has the status of a run that was deleted; of others it is read from the
 * run.
 */
const scheduleColumns = raw(`${mentionColumns.text}, s.file_id as file__id, f.path as file__path,
  f.branch_id as branch__id, b.name as branch__name, ${fileType.text} as type, s.cron as timing___cron, s.every as timing___every, s.time_zone as timing__time_zone,
  s.overlap, s.catch_up, s.is_paused, s.paused_reason, s.anchor_at, s.next_at, s.last_run_at,
  s.last_run_id, coalesce(r.status, s.last_status) as last_status, s.failure_count, s.created_at,
  s.updated_at`)

/** The joins for these columns. */
const scheduleJoins =
  raw(`join files f on f.id = s.file_id join branches b on b.id = f.branch_id join vals v on v.id = s.val_id
  join branches m on m.id = v.id join users u on u.id = s.owner_id left join runs r on r.id = s.last_run_id`)
