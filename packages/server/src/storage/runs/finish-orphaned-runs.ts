import type { RunError } from "../../domain/runs/runs.ts"
import { firstRow, rows, type Script } from "../database/database.ts"
import { raw, type Statements, sql } from "../database/sql.ts"
import { toJson } from "./run-rows.ts"

/** Repeats the condition of the index of such runs word for word: SQLite uses it only then. */
export const isOpen = raw("r.status <> 'succeeded' and r.status in ('queued', 'running')")

interface OpenRunRow {
  readonly id: string
  readonly val_id: string
  readonly version: number
  readonly started_at: number | string
  readonly node_id: string | null
}

/** Requests the node of a run to cancel it, or ends the run where that node is gone. */
export function* requestCancel(id: string, error: RunError, at: number): Script<boolean> {
  const run = yield* firstRow<OpenRunRow>(sql`
    update runs set cancel_requested = 1 where id = ${id} and ended_at is null returning id, val_id, version, started_at, node_id`)
  if (!run) return false
  const node =
    run.node_id === null
      ? undefined
      : yield* firstRow(sql`select id from nodes where id = ${run.node_id}`)
  if (!node) yield* endRuns([run], "cancelled", error, at)
  return true
}

/** Ends some of the runs of nodes that are gone. */
export function* crashLost(error: RunError, at: number, runsMax: number): Script<boolean> {
  const lost = yield* rows<OpenRunRow>(sql`
    select r.id, r.val_id, r.version, r.started_at, r.node_id from runs r
    where ${isOpen} and r.node_id is not null and not exists (select 1 from nodes n where n.id = r.node_id)
    order by r.node_id, r.id limit ${runsMax}`)
  yield* endRuns(lost, "crashed", error, at)
  return lost.length === runsMax
}

/** Locks vals in the order of their ids, as the statements that write runs do. */
function* endRuns(
  runs: readonly OpenRunRow[],
  status: string,
  error: RunError,
  at: number,
): Statements<void> {
  const text = toJson(error)
  for (const run of runs) {
    yield sql`update runs set status = ${status}, ended_at = ${at}, error = ${text}, node_id = null where id = ${run.id} and ended_at is null`
  }
  for (const run of runs.toSorted((left, right) => (left.val_id < right.val_id ? -1 : 1))) {
    const startedAt = Number(run.started_at)
    yield sql`update vals set run_ended_at = ${at} where id = ${run.val_id} and run_started_at = ${startedAt} and run_ended_at is null`
    yield sql`update versions set run_ended_at = ${at}
      where val_id = ${run.val_id} and version = ${run.version} and run_started_at = ${startedAt} and run_ended_at is null`
  }
}
