import {
  type FailingSchedule,
  type ScheduleNotice,
  toNotice,
  toPausedReason,
} from "../../domain/schedules/failures.ts"
import type { NewEvent } from "../../domain/webhooks/events.ts"
import { inBatches, list } from "../database/batch-sizes.ts"
import { rows, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { sql } from "../database/sql.ts"
import { emitEvent } from "../events/emit-events.ts"
import { addNotice } from "../mail/outbound/add-notice.ts"
import { addNotification } from "../notifications/add-notification.ts"
import { fromJson } from "../runs/run-rows.ts"

interface NoticeRow {
  readonly file_id: string
  readonly file_path: string
  readonly branch_id: string
  readonly branch_name: string
  readonly val_id: string
  readonly owner_id: string
  readonly owner_name: string
  readonly name: string
  readonly notice: ScheduleNotice
  readonly failure_count: number
  readonly error: string | null
  readonly now: number | string
}

/**
 * Tells the owners of some schedules that fail, once each. Returns how many were told. `toValPage`
 * gives the address of a val's page.
 */
export function* tellOwners(
  dialect: Dialect,
  countMax: number,
  newId: () => string,
  toValPage: FailingSchedule["toValPage"],
): Script<number> {
  const locked = yield* rows<{ file_id: string }>(sql`
    select file_id from schedules where notice is not null order by file_id limit ${countMax} ${dialect.skipLocked}`)
  for (const ids of inBatches(locked.map((row) => row.file_id))) {
    const found = yield* rows<NoticeRow>(sql`
      select s.file_id, f.path as file_path, f.branch_id, b.name as branch_name, s.val_id, s.owner_id,
        u.username as owner_name, v.name, s.notice, s.failure_count, r.error, ${dialect.now} as now
      from schedules s join files f on f.id = s.file_id join branches b on b.id = f.branch_id
      join vals v on v.id = s.val_id join users u on u.id = s.owner_id
      left join runs r on r.id = s.last_run_id
      where s.file_id in (${list(ids)}) and s.notice is not null`)
    for (const row of found) {
      const text = toNotice(row.notice, toFailing(row, toValPage))
      yield* emitEvent(dialect, toEvent(row))
      yield* addNotification(dialect, {
        type: `schedule.${row.notice}`,
        ownerId: row.owner_id,
        valId: row.val_id,
        fileId: row.file_id,
        key: `schedule/${row.file_id}/${row.now}`,
        actorId: null,
      })
      yield* addNotice(dialect, { id: newId(), userId: row.owner_id, ...text, at: Number(row.now) })
    }
    yield sql`update schedules set notice = null where file_id in (${list(ids)})`
  }
  return locked.length
}

function toEvent(row: NoticeRow): NewEvent {
  const { val_id: valId, file_id: fileId, notice, failure_count: failureCount } = row
  const at = Number(row.now)
  const type = `schedule.${notice}` as const
  const data = {
    ...{ reason: toPausedReason(failureCount), failureCount },
    file: { id: fileId, path: row.file_path },
    branch: { id: row.branch_id, name: row.branch_name },
  }
  return { type, ownerId: row.owner_id, valId, key: `${type}/${fileId}/${at}`, at, data }
}

function toFailing(row: NoticeRow, toValPage: FailingSchedule["toValPage"]): FailingSchedule {
  const error = fromJson<{ readonly name: string; readonly message: string }>(row.error)
  return {
    valName: row.name,
    ownerName: row.owner_name,
    place: row.file_id === row.val_id ? null : { path: row.file_path, branch: row.branch_name },
    failureCount: row.failure_count,
    error: error && `${error.name}: ${error.message}`,
    toValPage,
  }
}
