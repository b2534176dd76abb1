import { limits } from "@hamlet/contract"
import { type Dialect, rows, type Statements, type TableColumns } from "@hamlet/database"
import { truncateValue } from "@hamlet/kit"
import type { NewQueuedRun } from "../../domain/queue/queue-store.ts"
import { countTextBytes } from "../runs/record-runs.ts"
import { toJson } from "../runs/run-rows.ts"
import { withCode } from "../vals/val-rows.ts"

/** The values of a new run, prefixed so that they differ from the columns. */
const columns: TableColumns = {
  new_id: "id",
  new_val_id: "id",
  /** Null for the entry file of `main`. */
  new_file_id: "id",
  new_branch_id: "id",
  /** Null for the version that is current when the run starts. */
  new_version: "integer",
  new_account_id: "id",
  new_parent_id: "id",
  new_source: "text",
  new_request: "text",
  new_input: "text",
  new_args: "text",
  new_bytes: "integer",
  /** Null: at once. */
  new_due_at: "time",
  new_retries: "integer",
  new_depth: "integer",
}

/**
 * Adds runs to the queue in one statement, as part of a transaction. Returns the ids of those that
 * were added: a run of a val or branch that is gone is not. Call `RunQueue.wake` after the commit.
 */
export function* enqueueRuns(
  dialect: Dialect,
  runs: readonly NewQueuedRun[],
): Statements<readonly string[]> {
  if (runs.length === 0) return []
  const added = yield* rows<{ id: string }>`
    insert into runs (id, val_id, file_id, branch_id, version, account_id, owner_id, parent_id, source, status, started_at,
      request, input, args, bytes, due_at, fence, retries, depth, follows_current)
    select new_id, v.id, nullif(coalesce(new_file_id, c.file_id), v.id), nullif(new_branch_id, v.id), coalesce(new_version, b.version), new_account_id, v.owner_id, new_parent_id, new_source, 'queued',
      ${dialect.now}, new_request, new_input, new_args, new_bytes, coalesce(new_due_at, ${dialect.now}), 1, new_retries,
      new_depth, case when new_version is null then 1 else 0 end
    from ${dialect.tableOf(runs.map(toValues), columns)} join vals v on v.id = new_val_id
    join branches b on b.id = coalesce(new_branch_id, v.id)
    left join versions n on n.branch_id = b.id and n.version = coalesce(new_version, b.version) ${withCode}
    returning id`
  return added.map(({ id }) => id)
}

function toValues(run: NewQueuedRun): object {
  const texts = [
    toJson(run.request && { ...run.request, status: null }),
    toJson(run.input),
    toJson(truncateValue(run.args, limits.runValueBytesMax)),
  ] as const
  const [request, input, args] = texts
  return {
    new_id: run.id,
    new_val_id: run.valId,
    new_file_id: run.file?.id ?? null,
    new_branch_id: run.file?.branchId ?? null,
    new_version: run.version === "current" ? null : run.version,
    new_account_id: run.accountId,
    new_parent_id: run.parentId,
    new_source: run.source,
    new_request: request,
    new_input: input,
    new_args: args,
    new_bytes: countTextBytes(texts),
    new_due_at: run.dueAt,
    new_retries: run.retries ?? 0,
    new_depth: run.depth ?? 0,
  }
}
