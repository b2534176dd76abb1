import { limits } from "@hamlet/contract"
import type { NewQueuedRun } from "../../domain/queue/queued-run.ts"
import { truncateValue } from "../../domain/runs/truncate.ts"
import { inBatches, list } from "../database/batch-sizes.ts"
import { rows } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { join, type Statement, type Statements, sql } from "../database/sql.ts"
import { countTextBytes } from "./record-runs.ts"
import { toJson } from "./run-rows.ts"

interface ValRow {
  readonly id: string
  readonly version: number
  readonly owner_id: string
}

/**
 * Adds runs to the queue, as part of a transaction. Returns the ids of those that were added: a run
 * of a val that is gone is not. Call `RunQueue.wake` after the commit.
 */
export function* enqueueRuns(
  dialect: Dialect,
  runs: readonly NewQueuedRun[],
): Statements<readonly string[]> {
  const vals = new Map<string, ValRow>()
  for (const ids of inBatches([...new Set(runs.map(({ valId }) => valId))])) {
    for (const val of yield* rows<ValRow>(
      sql`select id, version, owner_id from vals where id in (${list(ids)})`,
    ))
      vals.set(val.id, val)
  }
  const added = runs.filter(({ valId }) => vals.has(valId))
  for (const batch of inBatches(added)) {
    const values = batch.map((run) => toValues(dialect, run, vals.get(run.valId) as ValRow))
    yield sql`insert into runs (id, val_id, version, account_id, owner_id, parent_id, source, status, started_at,
        request, input, args, bytes, due_at, retries, depth, follows_current)
      values ${join(values, ", ")}`
  }
  return added.map(({ id }) => id)
}

function toValues(dialect: Dialect, run: NewQueuedRun, val: ValRow): Statement {
  const texts = [
    toJson(run.request && { ...run.request, status: null }),
    toJson(run.input),
    toJson(truncateValue(run.args, limits.runValueBytesMax)),
  ] as const
  const [request, input, args] = texts
  return sql`(${run.id}, ${run.valId}, ${run.version === "current" ? val.version : run.version}, ${run.accountId}, ${val.owner_id},
    ${run.parentId ?? null}, ${run.source}, 'queued', ${dialect.now}, ${request}, ${input}, ${args}, ${countTextBytes(texts)},
    ${run.dueAt ?? dialect.now}, ${run.retries ?? 0}, ${run.depth ?? 0}, ${run.version === "current" ? 1 : 0})`
}
