import {
  type Database,
  type Dialect,
  firstId,
  rows,
  type Script,
  type Statement,
  type Statements,
  sql,
} from "@hamlet/database"
import { createTimeSlice } from "@hamlet/kit"
import type { ExpectedStart } from "@hamlet/sandbox"
import type { FileType } from "../../domain/files/tree.ts"
import type { NewQueuedRun } from "../../domain/queue/queue-store.ts"
import { toRecordedInterval } from "../../domain/runs/run-arguments.ts"
import {
  type DueDecision,
  type DueSchedule,
  decideDue,
  dueLimits,
  findCorrection,
} from "../../domain/schedules/due.ts"
import type {
  CatchUp,
  FiredBatch,
  Overlap,
  ScheduleWork,
} from "../../domain/schedules/schedules.ts"
import { enqueueRuns } from "../queue/enqueue-runs.ts"
import { fileType } from "./file-schedules.ts"

const limits = {
  /** Runs on an account that wait, beyond which schedules that allow overlap start no others. */
  waitingMax: 1_000,
  /** How long one transaction computes due times. The schedules that are left are due in the next. */
  decideMsMax: 20,
  /** Characters kept of the reason why a schedule was paused. */
  reasonCharsMax: 200,
}

interface DueRow {
  readonly fileId: string
  readonly valId: string
  readonly ownerId: string
  readonly cron: string | null
  readonly every: string | null
  readonly timeZone: string
  readonly overlap: Overlap
  readonly catchUp: CatchUp
  readonly anchorAt: number
  readonly nextAt: number
  readonly lastRunAt: number | null
  readonly lastRunId: string | null
  readonly releasedAt: number | null
  readonly now: number
}

/** What decides whether a due schedule runs, besides its own row. */
interface StateRow {
  readonly fileId: string
  readonly branchId: string
  readonly type: FileType | null
  readonly isSuspended: boolean
  readonly hasOpenRun: boolean
  readonly isCrowded: boolean
}

interface WorkRow {
  readonly nextAt: number | null
  readonly now: number
  readonly notice: string | null
}

/** A schedule that is due, what happens to it, and the id of its run, if it gets one. */
interface Fired {
  readonly row: DueRow
  /** Undefined if the file was deleted just now. */
  readonly state: StateRow | undefined
  readonly decision: DueDecision
  readonly id: string
  /** Set if its times cannot be computed. */
  readonly error?: unknown
}

/**
 * Starts the runs of some schedules that are due. A due time, the move to the next one and the run
 * are one transaction, and the row lock keeps other nodes away: so each due time has exactly one
 * run.
 */
export function* fireDue(
  dialect: Dialect,
  countMax: number,
  newId: () => string,
): Script<FiredBatch> {
  const due = yield* rows<DueRow>`
    select file_id, val_id, owner_id, cron, every, time_zone, overlap, catch_up, anchor_at, next_at, last_run_at,
      last_run_id, released_at, ${dialect.now} as now
    from schedules where next_at <= ${dialect.now} and waits_for_id is null
    order by next_at limit ${countMax} ${dialect.skipLocked}`
  if (due.length === 0) return { delaysMs: [], dropped: 0, errors: [] }
  // Read after the lock: only then a run that another node has started just now is visible.
  const states = yield* readStates(dialect, due)
  const fired = decideAll(due, states, newId)
  const started = fired.filter(({ decision }) => decision.kind === "run")
  yield* enqueueRuns(dialect, started.map(toQueuedRun))
  yield moveOn(dialect, fired)
  const failed = fired.filter(({ error }) => error !== undefined)
  for (const one of failed) yield pause(dialect, one)
  return {
    delaysMs: started.map(({ row, decision }) => row.now - decision.dueAt),
    dropped: fired.filter(({ decision }) => decision.kind === "drop").length,
    errors: failed.map(({ error }) => error),
  }
}

function decideAll(
  due: readonly DueRow[],
  states: ReadonlyMap<string, StateRow>,
  newId: () => string,
): readonly Fired[] {
  const startedMs = performance.now()
  const fired: Fired[] = []
  for (const row of due) {
    const state = states.get(row.fileId)
    fired.push({ row, state, id: newId(), ...decide(row, state) })
    if (performance.now() - startedMs > limits.decideMsMax) break
  }
  return fired
}

/** A schedule whose times cannot be computed does not stop the others. */
function decide(row: DueRow, state: StateRow | undefined): Pick<Fired, "decision" | "error"> {
  try {
    return { decision: decideDue(toDue(row, state), row.now) }
  } catch (error) {
    return { decision: { kind: "drop", dueAt: row.nextAt, nextAt: null }, error }
  }
}

/** Its owner sees the reason, and can set another timing. */
function pause(dialect: Dialect, { row, error }: Fired): Statement {
  const message = error instanceof Error ? error.message : String(error)
  return sql`update schedules set is_paused = 1, paused_reason = ${message.slice(0, limits.reasonCharsMax)},
    updated_at = ${dialect.now} where file_id = ${row.fileId}`
}

function* readStates(
  dialect: Dialect,
  due: readonly DueRow[],
): Statements<ReadonlyMap<string, StateRow>> {
  const ids = due.map((row) => ({ due_file_id: row.fileId }))
  const found = yield* rows<StateRow>`
    select s.file_id, f.branch_id, ${fileType} as type, case when u.suspended_at is null then 0 else 1 end as is_suspended,
      case when r.id is not null and r.ended_at is null then 1 else 0 end as has_open_run,
      case when s.overlap <> 'allow' then 0 when exists (select 1 from runs q where q.account_id = s.owner_id
        and q.due_at is not null order by q.due_at, q.id limit 1 offset ${limits.waitingMax - 1}) then 1 else 0 end as is_crowded
    from ${dialect.tableOf(ids, { due_file_id: "id" })} join schedules s on s.file_id = due_file_id
    join files f on f.id = s.file_id join users u on u.id = s.owner_id
    left join runs r on r.id = s.last_run_id`
  return new Map(found.map((state) => [state.fileId, state]))
}

function toDue(row: DueRow, state: StateRow | undefined): DueSchedule {
  return {
    timing: { cron: row.cron, every: row.every, timeZone: row.timeZone },
    anchorAt: row.anchorAt,
    dueAt: row.nextAt,
    overlap: row.overlap,
    catchUp: row.catchUp,
    canRun: state?.type === "interval" && !state.isSuspended && !state.isCrowded,
    hasOpenRun: state?.hasOpenRun ?? false,
    releasedAt: row.releasedAt,
  }
}

/** The run is on the account of the val's owner, with the owner's secrets. */
function toQueuedRun({ row, state, decision, id }: Fired): NewQueuedRun {
  const input = {
    kind: "interval",
    scheduledAt: decision.dueAt,
    lastRunAt: row.lastRunAt,
  } as const
  return {
    id,
    valId: row.valId,
    file: { id: row.fileId, branchId: state?.branchId ?? row.valId },
    version: "current",
    accountId: row.ownerId,
    source: "interval",
    args: toRecordedInterval(input),
    input,
  }
}

/** Moves the schedules to their next due times, in one statement. */
function moveOn(dialect: Dialect, fired: readonly Fired[]): Statement {
  const moved = fired.map(({ row, decision, id }) => ({
    moved_file_id: row.fileId,
    to_at: decision.nextAt,
    run_id: decision.kind === "run" ? id : null,
    run_at: decision.kind === "run" ? row.now : null,
    wait_id: decision.kind === "wait" ? row.lastRunId : null,
  }))
  const table = dialect.tableOf(moved, {
    moved_file_id: "id",
    to_at: "time",
    run_id: "id",
    run_at: "time",
    wait_id: "id",
  })
  return sql`
    update schedules set next_at = to_at, waits_for_id = wait_id, last_run_id = coalesce(run_id, last_run_id),
      last_run_at = coalesce(run_at, last_run_at), last_status = case when run_id is null then last_status else 'queued' end
    from ${table} where file_id = moved_file_id`
}

/** What there is to do, by the clock of the database. Reads two small indexes. */
export async function findWork(db: Database): Promise<ScheduleWork> {
  const row = await db.first<WorkRow>`
    select (select next_at from schedules where next_at is not null and waits_for_id is null order by next_at limit 1) as next_at,
      ${db.dialect.now} as now, (select notice from schedules where notice is not null and file_id > ${firstId} order by file_id limit 1) as notice`
  const { now = 0, nextAt = null, notice = null } = row ?? {}
  const nextInMs = nextAt === null ? undefined : Math.max(0, nextAt - now)
  return { now, nextInMs, hasNotices: notice !== null }
}

/** The starts of schedules that are due soon and whose process has been idle for too long by then. */
export function findSoon(
  db: Database,
  withinMs: number,
  idleMs: number,
  countMax: number,
): Promise<readonly ExpectedStart[]> {
  const { now } = db.dialect
  return db.read<ExpectedStart>`
    select owner_id as account_id, next_at - ${now} as in_ms from schedules
    where next_at > ${now} and next_at <= ${now} + ${withinMs} and waits_for_id is null
      and (last_run_at is null or last_run_at < next_at - ${idleMs})
    order by next_at limit ${countMax}`
}

/** Lets schedules be due again that wait for a run that has ended or is gone. */
export function* releaseWaiting(dialect: Dialect): Script<void> {
  yield sql`
    update schedules set waits_for_id = null, released_at = ${dialect.now}
    where waits_for_id is not null
      and not exists (select 1 from runs r where r.id = schedules.waits_for_id and r.ended_at is null)`
}

interface WaitingRow {
  readonly fileId: string
  readonly cron: string | null
  readonly every: string | null
  readonly timeZone: string
  readonly anchorAt: number
  readonly nextAt: number
  readonly lastRunAt: number | null
  readonly now: number
}

/**
 * Corrects some schedules whose next due time is later than their timing allows: the clock was ahead
 * when it was computed, and they would stand still until then.
 */
export async function correctTimes(
  db: Database,
  after: string | undefined,
  countMax: number,
): Promise<string | undefined> {
  const found = await db.read<WaitingRow>`
    select file_id, cron, every, time_zone, anchor_at, next_at, last_run_at, ${db.dialect.now} as now
    from schedules where file_id > ${after ?? firstId} and next_at > ${db.dialect.now} + ${dueLimits.lateMsMax}
    order by file_id limit ${countMax}`
  const yieldIfDue = createTimeSlice()
  for (const row of found) {
    await correct(db, row)
    await yieldIfDue()
  }
  return found.length < countMax ? undefined : found.at(-1)?.fileId
}

async function correct(db: Database, row: WaitingRow): Promise<void> {
  const correction = find(row)
  if (!correction) return
  const { anchorAt, nextAt } = correction
  // Only if nothing has changed meanwhile.
  await db.run`update schedules set anchor_at = ${anchorAt}, next_at = ${nextAt}
    where file_id = ${row.fileId} and next_at = ${row.nextAt}`
}

function find(row: WaitingRow): ReturnType<typeof findCorrection> {
  try {
    return findCorrection(
      {
        timing: { cron: row.cron, every: row.every, timeZone: row.timeZone },
        anchorAt: row.anchorAt,
        nextAt: row.nextAt,
        lastRunAt: row.lastRunAt,
      },
      row.now,
    )
  } catch {
    // Its times cannot be computed: it is paused when it is due.
    return undefined
  }
}
