import {
  type Database,
  type Dialect,
  firstRow,
  isUnavailable,
  nothing,
  raw,
  rows,
  type Script,
  type Statement,
  type Statements,
  sql,
  withNotice,
} from "@hamlet/database"
import { cancelledError } from "@hamlet/sandbox"
import type { EndedRun, TakenOver, Takeover } from "../../domain/queue/queue-store.ts"
import type { RunError } from "../../domain/runs/runs.ts"
import {
  claimsTable,
  hasOpenClaims,
  isLive,
  listClaims,
  lockClaims,
  type NodeRow,
  selectClaims,
} from "../claims/node-claims.ts"
import { afterRunsEnded } from "../runs/after-runs-ended.ts"
import { updateLatest } from "../runs/record-runs.ts"
import { toJson } from "../runs/run-rows.ts"

/** Repeats the condition of the index of such runs word for word: SQLite uses it only then. */
const isOpen = raw("r.status <> 'succeeded' and r.status in ('queued', 'running')")

/** The channel on which nodes tell each other that a run is to be cancelled. */
export const cancelChannel = "hamlet_cancel"

export interface OpenRunRow extends Omit<EndedRun, "endedAt" | "error"> {
  readonly nodeId: string | null
  readonly fence: number
  readonly attempt: number
  readonly retries: number
  readonly cancelRequested: number
}

export const openRunColumns = raw(
  "id, val_id, coalesce(file_id, val_id) as file_id, coalesce(branch_id, val_id) as branch_id, version, account_id, owner_id, source, status, started_at, node_id, fence, attempt, retries, depth, cancel_requested",
)

/** Requests the node of a run to cancel it, or ends the run if it waits or its node is gone. */
export function* requestCancel(dialect: Dialect, id: string, at: number): Script<boolean> {
  // Otherwise a node could claim the run in between, and start it.
  yield* lockClaims(dialect)
  const request = sql`
    update runs set cancel_requested = 1 where id = ${id} and ended_at is null returning ${openRunColumns}`
  const run = yield* firstRow<OpenRunRow>(withNotice(request, cancelChannel))
  if (!run) return false
  const nodes = yield* rows<NodeRow>`${selectClaims} where is_gone = 0`
  const node = nodes.find(
    (one) => one.id === run.nodeId || one.claims?.[run.accountId]?.[id] === run.fence,
  )
  const isDirect = ({ fence }: OpenRunRow) => fence === 0
  if (!node) yield* endRuns(dialect, [run], toCancelled(at, isDirect))
  return true
}

/**
 * Takes runs from nodes that are gone. A run of the queue whose code had not started waits again,
 * and so does one that had started and has retries left. All others have crashed: a val may have
 * done half of its work, and only its author knows whether it can be done twice. A run with a
 * cancel request ends as cancelled.
 *
 * A run that cannot be taken must not stop those behind it: when a batch fails, each run is taken in
 * a transaction of its own, and the errors are returned.
 */
export async function takeOverRuns(db: Database, takeover: Takeover): Promise<TakenOver> {
  try {
    return await db.write(() => takeOver(db.dialect, takeover))
  } catch (error) {
    if (isUnavailable(error)) throw error
    return takeOverEach(db, takeover)
  }
}

async function takeOverEach(db: Database, takeover: Takeover): Promise<TakenOver> {
  const gone = await db.read<NodeRow>(selectGone)
  const bound = await db.read<{ id: string }>`select r.id from runs r where ${isLost}`
  const claimed = gone.flatMap(({ claims }) => listClaims(claims))
  const taken = { requeued: 0, retried: 0, crashed: 0 }
  const errors: unknown[] = []
  for (const id of new Set([...bound, ...claimed].map((run) => run.id))) {
    try {
      const one = await db.write(() => takeOver(db.dialect, takeover, id))
      taken.requeued += one.requeued
      taken.retried += one.retried
      taken.crashed += one.crashed
    } catch (error) {
      if (isUnavailable(error)) throw error
      errors.push(error)
    }
  }
  return { ...taken, hasMore: false, errors }
}

/** The run belongs to a node that is gone. */
const isLost = sql`${isOpen} and r.node_id is not null and not ${isLive(raw("r.node_id"))}`

/** Takes some runs, or the one with that id. */
function* takeOver(
  dialect: Dialect,
  { error, at, runsMax, delayOf, waits }: Takeover,
  onlyId?: string,
): Script<TakenOver> {
  const isWanted = onlyId === undefined ? nothing : sql`and r.id = ${onlyId}`
  const bound = yield* rows<OpenRunRow>`
    select ${openRunColumns} from runs r where ${isLost} ${isWanted}
    order by r.node_id, r.id limit ${runsMax} ${waits ? dialect.forUpdate : dialect.skipLocked}`
  // After them: a node that goes in between is taken next time.
  const gone = yield* rows<NodeRow>`${selectGone} ${dialect.forUpdate}`
  const found = [...bound, ...(yield* findClaimed(dialect, gone, onlyId))]
  const counts = yield* endLostRuns(dialect, found, toHasStarted(gone), { error, at, delayOf })
  for (const { id, claims } of gone)
    if (!(yield* hasOpenClaims(dialect, listClaims(claims)))) yield removeEmptyNode(id)
  return { ...counts, hasMore: bound.length === runsMax, errors: [] }
}

/** How runs go on whose node is gone, or has lost how they ended. */
interface EndOfLostRuns {
  readonly error: RunError
  readonly at: number
  delayOf(attempt: number, run: OpenRunRow): number
}

/** Lets runs wait again that had not started or have retries left. The others have crashed. */
export function* endLostRuns(
  dialect: Dialect,
  found: readonly OpenRunRow[],
  hasStarted: (run: OpenRunRow) => boolean,
  { error, at, delayOf }: EndOfLostRuns,
): Script<Pick<TakenOver, "requeued" | "retried" | "crashed">> {
  const cancelled = found.filter((run) => run.cancelRequested === 1)
  const lost = found.filter((run) => run.cancelRequested === 0)
  const isQueued = (run: OpenRunRow) => run.fence > 0 && !hasStarted(run)
  const isRetried = (run: OpenRunRow) =>
    run.fence > 0 && hasStarted(run) && run.attempt <= run.retries
  const [requeued, retried] = [lost.filter(isQueued), lost.filter(isRetried)]
  const crashed = lost.filter((run) => !isQueued(run) && !isRetried(run))
  yield* queueAgain(dialect, requeued, 0, () => 0)
  yield* queueAgain(dialect, retried, 1, delayOf)
  yield* endRuns(dialect, cancelled, toCancelled(at, hasStarted))
  yield* endRuns(dialect, crashed, { status: "crashed", error, at, hasStarted: () => true })
  return { requeued: requeued.length, retried: retried.length, crashed: crashed.length }
}

const selectGone = sql`${selectClaims} where is_gone = 1`

/** The claimed runs of these nodes whose own rows say nothing of it. */
function* findClaimed(
  dialect: Dialect,
  gone: readonly NodeRow[],
  onlyId: string | undefined,
): Statements<readonly OpenRunRow[]> {
  const claims = gone
    .flatMap((node) => listClaims(node.claims).map((claim) => ({ ...claim, nodeId: node.id })))
    .filter(({ id }) => onlyId === undefined || id === onlyId)
  if (claims.length === 0) return []
  // A run may also be among the old claims of another node, under a lower number.
  const nodeOf = new Map(claims.map(({ id, fence, nodeId }) => [`${id}/${fence}`, nodeId]))
  const found = yield* rows<OpenRunRow>`
    select ${openRunColumns} from ${claimsTable(dialect, claims)} join runs r on r.id = claimed_id
    where r.fence = claimed_fence and r.ended_at is null and r.node_id is null`
  return found.map((run) => ({ ...run, nodeId: nodeOf.get(`${run.id}/${run.fence}`) ?? null }))
}

/**
 * Whether the code of a run had started on its node: its row or that of the node says so. Of a node
 * that is not stored, as after a restore, it is not known, so the run counts as started.
 */
function toHasStarted(nodes: readonly NodeRow[]): (run: OpenRunRow) => boolean {
  const begun = new Map(nodes.map((node) => [node.id, node.begun ?? {}]))
  return ({ id, nodeId, status, fence }) => {
    const fences = begun.get(nodeId ?? "")
    return status === "running" || fences === undefined || fences[id] === fence
  }
}

/** Removes a node that is gone, once it has no runs any more. */
export function removeEmptyNode(id: string): Statement {
  return sql`delete from nodes where id = ${id} and is_gone = 1
    and not exists (select 1 from runs r where ${isOpen} and r.node_id = ${id})`
}

function* queueAgain(
  dialect: Dialect,
  runs: readonly OpenRunRow[],
  failedAttempts: number,
  delayOf: EndOfLostRuns["delayOf"],
): Statements<void> {
  if (runs.length === 0) return
  const values = runs.map((run) => ({
    run_id: run.id,
    run_fence: run.fence,
    new_attempt: run.attempt + failedAttempts,
    delay_ms: delayOf(run.attempt, run),
  }))
  yield sql`
    update runs set status = 'queued', node_id = null, due_at = ${dialect.now} + delay_ms, fence = fence + 1, attempt = new_attempt
    from ${dialect.tableOf(values, { run_id: "id", run_fence: "integer", new_attempt: "integer", delay_ms: "integer" })}
    where runs.id = run_id and runs.fence = run_fence and runs.ended_at is null`
}

/** How runs end without their node. */
interface EndOfRuns {
  readonly status: "crashed" | "cancelled"
  readonly error: RunError
  readonly at: number
  /** Whether the code of the run may have started. */
  hasStarted(run: OpenRunRow): boolean
}

function toCancelled(at: number, hasStarted: EndOfRuns["hasStarted"]): EndOfRuns {
  return { status: "cancelled", error: cancelledError, at, hasStarted }
}

function* endRuns(
  dialect: Dialect,
  runs: readonly OpenRunRow[],
  { status, error, at, hasStarted }: EndOfRuns,
): Statements<void> {
  const text = toJson(error)
  const ended: EndedRun[] = []
  const started = new Set<string>()
  for (const run of runs) {
    // The number of the claim changes: a node that lives after all can record nothing. A run that
    // has no claim was never given to another node, so its own node may still say how it ended.
    const [row] = yield* rows`
      update runs set status = ${status}, ended_at = ${at}, error = ${text}, node_id = null, due_at = null,
        fence = case when fence = 0 then 0 else fence + 1 end
      where id = ${run.id} and fence = ${run.fence} and ended_at is null returning id`
    if (!row) continue
    ended.push({ ...run, status, error, endedAt: at })
    if (hasStarted(run)) started.add(run.id)
  }
  // A run that has not started must not become the latest of its val.
  yield* updateLatest(
    dialect,
    ended.filter((run) => started.has(run.id)),
  )
  yield* afterRunsEnded(dialect, ended)
}
