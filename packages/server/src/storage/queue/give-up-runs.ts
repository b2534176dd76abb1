import { type Database, type Dialect, isUnavailable, rows, type Script } from "@hamlet/database"
import type { RunError, UnrecordedRun } from "../../domain/runs/runs.ts"
import { claimsTable } from "../claims/node-claims.ts"
import { endLostRuns, type OpenRunRow, openRunColumns } from "./take-over-runs.ts"

/** How such runs end. */
interface GivenUp {
  readonly error: RunError
  readonly at: number
}

/**
 * Ends runs of a live node whose records it has lost. When a batch fails, each run is ended in a
 * transaction of its own; returns why some could not be, by id.
 */
export async function giveUpRuns(
  db: Database,
  nodeId: string,
  runs: readonly UnrecordedRun[],
  end: GivenUp,
): Promise<ReadonlyMap<string, unknown>> {
  const failures = new Map<string, unknown>()
  const batches = [runs, ...runs.map((run) => [run])]
  for (const batch of batches)
    try {
      await db.write(() => giveUp(db.dialect, nodeId, batch, end))
      if (batch === runs) break
    } catch (error) {
      if (isUnavailable(error)) throw error
      if (batch !== runs) for (const { id } of batch) failures.set(id, error)
    }
  return failures
}

function* giveUp(
  dialect: Dialect,
  nodeId: string,
  runs: readonly UnrecordedRun[],
  end: GivenUp,
): Script<void> {
  const byId = new Map(runs.map((run) => [run.id, run]))
  // A run of the queue whose start is not on disk has no node yet, but the number of our claim.
  const found = yield* rows<OpenRunRow>`
    select ${openRunColumns} from ${claimsTable(dialect, runs)} join runs r on r.id = claimed_id
    where r.fence = claimed_fence and r.ended_at is null
      and (r.node_id = ${nodeId} or (r.node_id is null and r.fence > 0))`
  const hasStarted = ({ id, status }: OpenRunRow) =>
    status === "running" || byId.get(id)?.hasStarted === true
  const delayOf = (_: number, { id }: OpenRunRow) => byId.get(id)?.delayMs ?? 0
  yield* endLostRuns(dialect, found, hasStarted, { ...end, delayOf })
}
