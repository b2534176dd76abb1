import { type Dialect, inBatches, list, rows, type Script, sql } from "@hamlet/database"
import type { RunError } from "../../domain/runs/runs.ts"
import {
  type FailingSchedule,
  type ScheduleNotice,
  toNotice,
  toPausedReason,
} from "../../domain/schedules/failures.ts"
import type { NewEvent } from "../../domain/webhooks/events.ts"
import { emitEvent } from "../events/emit-events.ts"
import { addNotice } from "../mail/outbound/add-notice.ts"
import { addNotification } from "../notifications/add-notification.ts"

interface NoticeRow {
  readonly fileId: string
  readonly filePath: string
  readonly branchId: string
  readonly branchName: string
  readonly valId: string
  readonly ownerId: string
  readonly ownerName: string
  readonly name: string
  readonly notice: ScheduleNotice
  readonly failureCount: number
  readonly error: RunError | null
  readonly now: number
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
  const locked = yield* rows<{ fileId: string }>`
    select file_id from schedules where notice is not null order by file_id limit ${countMax} ${dialect.skipLocked}`
  for (const ids of inBatches(locked.map((row) => row.fileId))) {
    const found = yield* rows<NoticeRow>`
      select s.file_id, f.path as file_path, f.branch_id, b.name as branch_name, s.val_id, s.owner_id,
        u.username as owner_name, v.name, s.notice, s.failure_count, r.error as error_json, ${dialect.now} as now
      from schedules s join files f on f.id = s.file_id join branches b on b.id = f.branch_id
      join vals v on v.id = s.val_id join users u on u.id = s.owner_id
      left join runs r on r.id = s.last_run_id
      where s.file_id in (${list(ids)}) and s.notice is not null`
    for (const row of found) {
      const text = toNotice(row.notice, toFailing(row, toValPage))
      yield* emitEvent(dialect, toEvent(row))
      yield* addNotification(dialect, {
        type: `schedule.${row.notice}`,
        ownerId: row.ownerId,
        valId: row.valId,
        fileId: row.fileId,
        key: `schedule/${row.fileId}/${row.now}`,
        actorId: null,
      })
      yield* addNotice(dialect, { id: newId(), userId: row.ownerId, ...text, at: row.now })
    }
    yield sql`update schedules set notice = null where file_id in (${list(ids)})`
  }
  return locked.length
}

function toEvent(row: NoticeRow): NewEvent {
  const { valId, fileId, notice, failureCount } = row
  const at = row.now
  const type = `schedule.${notice}` as const
  const data = {
    reason: toPausedReason(failureCount),
    failureCount,
    file: { id: fileId, path: row.filePath },
    branch: { id: row.branchId, name: row.branchName },
  }
  return { type, ownerId: row.ownerId, valId, key: `${type}/${fileId}/${at}`, at, data }
}

function toFailing(row: NoticeRow, toValPage: FailingSchedule["toValPage"]): FailingSchedule {
  const { error } = row
  return {
    valName: row.name,
    ownerName: row.ownerName,
    place: row.fileId === row.valId ? null : { path: row.filePath, branch: row.branchName },
    failureCount: row.failureCount,
    error: error && `${error.name}: ${error.message}`,
    toValPage,
  }
}
