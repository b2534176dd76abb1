import {
  type Dialect,
  nothing,
  rows,
  type Statements,
  sql,
  type TableColumns,
} from "@hamlet/database"
import type { EndedRun } from "../../domain/queue/queue-store.ts"
import { findNotice, isFailure, toPausedReason } from "../../domain/schedules/failures.ts"

const columns: TableColumns = {
  run_id: "id",
  run_file_id: "id",
  run_status: "text",
  has_failed: "integer",
}

interface CountRow {
  readonly fileId: string
  readonly failureCount: number
  readonly isPaused: boolean
}

/**
 * Counts the failures in a row of schedules whose runs have ended, pauses a schedule that fails
 * again and again, and lets due times run that wait for one of these runs. Locks schedules in the
 * order of their files.
 */
export function* noteScheduledRuns(dialect: Dialect, ended: readonly EndedRun[]): Statements<void> {
  const runs = ended.filter(({ source }) => source === "interval")
  for (const round of inRounds(runs)) yield* noteRound(dialect, round)
}

/** A statement changes a row once, so runs of the same file are in different rounds, in order. */
function inRounds(runs: readonly EndedRun[]): readonly (readonly EndedRun[])[] {
  const rounds: EndedRun[][] = []
  const counts = new Map<string, number>()
  for (const run of runs.toSorted(byFile)) {
    const index = counts.get(run.fileId) ?? 0
    counts.set(run.fileId, index + 1)
    const round = rounds[index] ?? []
    rounds[index] = round
    round.push(run)
  }
  return rounds
}

function byFile(one: EndedRun, other: EndedRun): number {
  if (one.fileId === other.fileId) return 0
  return one.fileId < other.fileId ? -1 : 1
}

// A run that was cancelled, or ended with its server, says nothing about the val.
function* noteRound(dialect: Dialect, runs: readonly EndedRun[]): Statements<void> {
  const values = runs.map((run) => ({
    run_id: run.id,
    run_file_id: run.fileId,
    run_status: run.status,
    has_failed: isFailure(run) ? 1 : 0,
  }))
  const schedules = yield* rows<CountRow>`
    update schedules set
      failure_count = case when has_failed = 1 then failure_count + 1 when run_status = 'succeeded' then 0 else failure_count end,
      last_status = case when last_run_id = run_id then run_status else last_status end,
      released_at = case when waits_for_id = run_id then ${dialect.now} else released_at end,
      waits_for_id = case when waits_for_id = run_id then null else waits_for_id end
    from ${dialect.tableOf(values, columns)}
    where file_id = run_file_id returning file_id, failure_count, is_paused`
  const failed = new Set(runs.filter(isFailure).map(({ fileId }) => fileId))
  for (const schedule of schedules)
    if (failed.has(schedule.fileId)) yield* noteFailure(dialect, schedule)
}

function* noteFailure(dialect: Dialect, schedule: CountRow): Statements<void> {
  const { fileId, failureCount: count } = schedule
  const notice = findNotice(count, schedule.isPaused)
  if (notice === undefined) return
  const pause =
    notice === "failing"
      ? nothing
      : sql`, is_paused = 1, paused_reason = ${toPausedReason(count)}, next_at = null, waits_for_id = null,
          updated_at = ${dialect.now}`
  // The owner is told by a job: this may run on a thread that cannot.
  yield sql`update schedules set notice = ${notice} ${pause} where file_id = ${fileId}`
}
