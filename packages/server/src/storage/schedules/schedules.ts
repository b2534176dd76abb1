import type { FailingSchedule } from "../../domain/schedules/failures.ts"
import type {
  Schedule,
  ScheduleChange,
  ScheduledVal,
  ScheduleState,
  ScheduleStore,
} from "../../domain/schedules/schedules.ts"
import type { Timing } from "../../domain/schedules/timing.ts"
import type { AssertVal } from "../../domain/vals/vals.ts"
import { type Database, firstRow, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { afterCursor, limitTo, toPage } from "../database/pagination.ts"
import { asBoolean, asIs, asNumber, asNumberOrNull, createReader } from "../database/reader.ts"
import { raw, type Statement, type Statements, sql } from "../database/sql.ts"
import { entryType } from "../files/branch-rows.ts"
import { correctTimes, findWork, fireDue, releaseWaiting } from "./fire-schedules.ts"
import { tellOwners } from "./tell-owners.ts"

/** Schedules in the database. `toValPage` gives the address of a val's page, for notices. */
export function createScheduleStore(
  db: Database,
  newId: () => string,
  toValPage: FailingSchedule["toValPage"],
): ScheduleStore {
  const { dialect } = db
  return {
    async find(valId) {
      const [row] = await db.read<object>(selectSchedule(valId))
      return row && toSchedule(row)
    },
    async listOfOwner(ownerId, page) {
      const rows = await db.read<{ created_at: number | string; val_id: string }>(sql`
        select ${scheduleColumns} from schedules s ${scheduleJoins} where s.owner_id = ${ownerId}
          ${afterCursor(page, "s.created_at, s.val_id", ["time", "id"])}
        order by s.created_at desc, s.val_id desc ${limitTo(page)}`)
      return toPage(rows, page, toSchedule, (row) => [Number(row.created_at), row.val_id])
    },
    put: (valId, change, countMax) => db.write(() => putSchedule(dialect, valId, change, countMax)),
    delete: (valId, assert) => db.write(() => deleteSchedule(valId, assert)),
    findWork: () => findWork(db),
    fireDue: (countMax) => db.write(() => fireDue(dialect, countMax, newId)),
    releaseWaiting: () => db.write(() => releaseWaiting(dialect)),
    correctTimes: (after, countMax) => correctTimes(db, after, countMax),
    tellOwners: (countMax) => db.write(() => tellOwners(dialect, countMax, newId, toValPage)),
  }
}

function selectSchedule(valId: string): Statement {
  return sql`select ${scheduleColumns} from schedules s ${scheduleJoins} where s.val_id = ${valId}`
}

function* findVal(valId: string): Statements<ScheduledVal | undefined> {
  const row = yield* firstRow<object>(sql`
    select ${scheduledValColumns} from vals v join branches b on b.id = v.id join users u on u.id = v.owner_id where v.id = ${valId}`)
  return row && toScheduledVal(row)
}

function* putSchedule(
  dialect: Dialect,
  valId: string,
  change: (state: ScheduleState) => ScheduleChange,
  countMax: number,
): Script<Schedule | "full" | undefined> {
  const val = yield* findVal(valId)
  if (!val) return undefined
  // Locks the row of the owner, so that concurrent new schedules are counted one after the other,
  // and the schedule, so that it is not fired meanwhile.
  yield sql`select id from users where id = ${val.ownerId} ${dialect.forUpdate}`
  yield sql`select val_id from schedules where val_id = ${valId} ${dialect.forUpdate}`
  const clock = yield* firstRow<{ now: number | string }>(sql`select ${dialect.now} as now`)
  const row = yield* firstRow<object>(selectSchedule(valId))
  const now = Number(clock?.now)
  const current = row && toSchedule(row)
  const changed = change({ val, current, now })
  if (!current) {
    const others = yield* firstRow<{ count: number | string }>(
      sql`select count(*) as count from schedules where owner_id = ${val.ownerId}`,
    )
    if (Number(others?.count) >= countMax) return "full"
  }
  yield upsertSchedule(val, changed, now)
  const after = yield* firstRow<object>(selectSchedule(valId))
  return after && toSchedule(after)
}

/** A schedule that starts anew waits for no run. */
function upsertSchedule(val: ScheduledVal, change: ScheduleChange, now: number): Statement {
  const { timing } = change
  return sql`
    insert into schedules (val_id, owner_id, cron, every, time_zone, overlap, catch_up, is_paused, paused_reason,
      anchor_at, next_at, failure_count, created_at, updated_at)
    values (${val.id}, ${val.ownerId}, ${timing.cron}, ${timing.every}, ${timing.timeZone}, ${change.overlap}, ${change.catchUp},
      ${change.isPaused ? 1 : 0}, ${change.pausedReason}, ${change.anchorAt}, ${change.nextAt}, ${change.failureCount}, ${now}, ${now})
    on conflict (val_id) do update set cron = excluded.cron, every = excluded.every, time_zone = excluded.time_zone,
      overlap = excluded.overlap, catch_up = excluded.catch_up, is_paused = excluded.is_paused,
      paused_reason = excluded.paused_reason, anchor_at = excluded.anchor_at, next_at = excluded.next_at,
      waits_for_id = case when schedules.next_at = excluded.next_at then schedules.waits_for_id end,
      failure_count = excluded.failure_count, updated_at = excluded.updated_at`
}

function* deleteSchedule(
  valId: string,
  assert: AssertVal<ScheduledVal>,
): Script<boolean | undefined> {
  const val = yield* findVal(valId)
  if (!val) return undefined
  assert(val)
  const deleted = yield* firstRow(
    sql`delete from schedules where val_id = ${valId} returning val_id`,
  )
  return deleted !== undefined
}

/** The columns of the val of a schedule; `v` is the val, `b` its main branch, `u` its owner. */
const scheduledValColumns = raw(
  `v.id as val_id, v.name, b.version, v.privacy, ${entryType.text} as type, v.owner_id, u.username as owner_name`,
)

/**
 * The columns of a schedule; `s` is the schedule, `r` its last run. The schedule has the status of
 * a run that was deleted; of others it is read from the run.
 */
const scheduleColumns = raw(`${scheduledValColumns.text}, s.cron, s.every, s.time_zone,
  s.overlap, s.catch_up, s.is_paused, s.paused_reason, s.anchor_at, s.next_at, s.last_run_at,
  s.last_run_id, coalesce(r.status, s.last_status) as last_status, s.failure_count, s.created_at,
  s.updated_at`)

/** The joins for these columns. */
const scheduleJoins =
  raw(`join vals v on v.id = s.val_id join branches b on b.id = v.id join users u on u.id = s.owner_id
  left join runs r on r.id = s.last_run_id`)

/** Makes the val of a schedule. */
const toScheduledVal = createReader<ScheduledVal>({
  id: (_, row: { readonly val_id: string }) => row.val_id,
  name: asIs,
  version: asIs,
  privacy: asIs,
  type: asIs,
  ownerId: asIs,
  ownerName: asIs,
})

/** Makes the timing of a schedule. */
const toTiming = createReader<Timing>({ cron: asIs, every: asIs, timeZone: asIs })

/** Makes a schedule of the domain. */
const toSchedule = createReader<Schedule>({
  val: (_, row: object) => toScheduledVal(row),
  timing: (_, row: object) => toTiming(row),
  overlap: asIs,
  catchUp: asIs,
  isPaused: asBoolean,
  pausedReason: asIs,
  anchorAt: asNumber,
  nextAt: asNumberOrNull,
  lastRunAt: asNumberOrNull,
  lastRunId: asIs,
  lastStatus: asIs,
  failureCount: asIs,
  createdAt: asNumber,
  updatedAt: asNumber,
})
