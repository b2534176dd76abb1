import type { TakenOver, Takeover } from "../../domain/queue/queue-store.ts"
import type { EndedRun } from "../../domain/queue/queued-run.ts"
import type { RunError, RunSource, RunStatus } from "../../domain/runs/runs.ts"
import { firstRow, rows, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { raw, type Statements, sql } from "../database/sql.ts"
import { afterRunsEnded } from "./after-runs-ended.ts"
import { toJson } from "./run-rows.ts"

/** Repeats the condition of the index of such runs word for word: SQLite uses it only then. */
export const isOpen = raw("r.status <> 'succeeded' and r.status in ('queued', 'running')")

interface OpenRunRow {
  readonly id: string
  readonly val_id: string
  readonly version: number
  readonly account_id: string
  readonly owner_id: string
  readonly source: RunSource
  readonly status: RunStatus
  readonly started_at: number | string
  readonly node_id: string | null
  readonly fence: number
  readonly attempt: number
  readonly retries: number
  readonly depth: number
}

const openRunColumns = raw(
  "id, val_id, version, account_id, owner_id, source, status, started_at, node_id, fence, attempt, retries, depth",
)

/** Requests the node of a run to cancel it, or ends the run if it waits or its node is gone. */
export function* requestCancel(
  dialect: Dialect,
  id: string,
  error: RunError,
  at: number,
): Script<boolean> {
  const run = yield* firstRow<OpenRunRow>(sql`
    update runs set cancel_requested = 1 where id = ${id} and ended_at is null returning ${openRunColumns}`)
  if (!run) return false
  const node =
    run.node_id === null
      ? undefined
      : yield* firstRow(sql`select id from nodes where id = ${run.node_id}`)
  if (!node) yield* endRuns(dialect, [run], "cancelled", error, at)
  return true
}

/**
 * Takes runs from nodes that are gone. A run of the queue whose code had not started waits again,
 * and so does one that had started and has retries left. All others have crashed: a val may have
 * done half of its work, and nobody but its author knows whether it can be done twice.
 */
export function* takeOverRuns(
  dialect: Dialect,
  { error, at, runsMax, delayOf }: Takeover,
): Script<TakenOver> {
  const lost = yield* rows<OpenRunRow>(sql`
    select ${openRunColumns} from runs r
    where ${isOpen} and r.node_id is not null and not exists (select 1 from nodes n where n.id = r.node_id)
    order by r.node_id, r.id limit ${runsMax} ${dialect.skipLocked}`)
  const isQueued = (run: OpenRunRow) => run.fence > 0 && run.status === "queued"
  const isRetried = (run: OpenRunRow) =>
    run.fence > 0 && run.status === "running" && run.attempt <= run.retries
  const [requeued, retried] = [lost.filter(isQueued), lost.filter(isRetried)]
  const crashed = lost.filter((run) => !isQueued(run) && !isRetried(run))
  yield* queueAgain(dialect, requeued, () => 0)
  yield* queueAgain(dialect, retried, delayOf)
  yield* endRuns(dialect, crashed, "crashed", error, at)
  return {
    requeued: requeued.length,
    retried: retried.length,
    crashed: crashed.length,
    hasMore: lost.length === runsMax,
  }
}

function* queueAgain(
  dialect: Dialect,
  runs: readonly OpenRunRow[],
  delayOf: (attempt: number) => number,
): Statements<void> {
  if (runs.length === 0) return
  const values = runs.map((run) => ({
    run_id: run.id,
    run_fence: run.fence,
    new_attempt: run.attempt + (run.status === "running" ? 1 : 0),
    delay_ms: delayOf(run.attempt),
  }))
  yield sql`
    update runs set status = 'queued', node_id = null, due_at = ${dialect.now} + delay_ms, fence = fence + 1, attempt = new_attempt
    from ${dialect.fromJson(values, { run_id: "id", run_fence: "integer", new_attempt: "integer", delay_ms: "integer" })}
    where runs.id = run_id and runs.fence = run_fence and runs.ended_at is null`
}

/** Locks vals in the order of their ids, as the statements that write runs do. */
function* endRuns(
  dialect: Dialect,
  runs: readonly OpenRunRow[],
  status: "crashed" | "cancelled",
  error: RunError,
  at: number,
): Statements<void> {
  const text = toJson(error)
  const ended: EndedRun[] = []
  for (const run of runs) {
    // The number of the claim changes: a node that lives after all can record nothing. A run that
    // has no claim was never given to another node, so its own node may still say how it ended.
    const [row] = yield* rows(sql`
      update runs set status = ${status}, ended_at = ${at}, error = ${text}, node_id = null, due_at = null,
        fence = case when fence = 0 then 0 else fence + 1 end
      where id = ${run.id} and fence = ${run.fence} and ended_at is null returning id`)
    if (row) ended.push(toEndedRun(run, status, error, at))
  }
  for (const run of ended.toSorted((left, right) => (left.valId < right.valId ? -1 : 1))) {
    yield sql`update vals set run_ended_at = ${at} where id = ${run.valId} and run_started_at = ${run.startedAt} and run_ended_at is null`
    yield sql`update versions set run_ended_at = ${at}
      where val_id = ${run.valId} and version = ${run.version} and run_started_at = ${run.startedAt} and run_ended_at is null`
  }
  yield* afterRunsEnded(dialect, ended)
}

function toEndedRun(
  run: OpenRunRow,
  status: "crashed" | "cancelled",
  error: RunError,
  at: number,
): EndedRun {
  return {
    ...{ id: run.id, valId: run.val_id, version: run.version, source: run.source },
    ...{ accountId: run.account_id, ownerId: run.owner_id, status, error },
    startedAt: Number(run.started_at),
    endedAt: at,
    depth: run.depth,
  }
}
