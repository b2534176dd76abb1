import {
  type Dialect,
  raw,
  rows,
  type Script,
  type SqlValue,
  type TableColumns,
} from "@hamlet/database"
import type { RunRecord } from "../../domain/runs/runs.ts"
import {
  columnOf,
  finishRecord,
  keepsInput,
  type RecordedRow,
  toRecordedRow,
  toRunValues,
} from "../runs/record-runs.ts"
import { dueAgain } from "./claim-runs.ts"

/** The new values of the columns of a run, prefixed so that they differ from the columns. */
const columns: TableColumns = {
  new_id: "id",
  new_fence: "integer",
  new_version: "integer",
  new_status: "text",
  new_node_id: "id",
  new_started_at: "time",
  new_ended_at: "time",
  new_logs_truncated: "integer",
  new_error: "text",
  new_request: "text",
  new_return_value: "text",
  new_logs: "text",
  new_egress: "text",
  new_last_line: "text",
  new_log_gap: "text",
  new_bytes: "integer",
  /** Null unless the run is attempted again. */
  retry_ms: "integer",
  keeps_input: "integer",
}

/** Where they are in the values of a recorded run; the last two and the fence are not. */
const places = Object.keys(columns).map((name) => ({
  name,
  at: columnOf(name.replace("new_", "")),
}))

/**
 * Records runs of the queue, each only if this node still has the claim under which it ran. Returns
 * the ids of the others. A failed attempt that is to be repeated becomes a waiting run again.
 */
export function* recordClaimed(
  dialect: Dialect,
  runs: readonly ClaimedState[],
): Script<readonly string[]> {
  const recorded = yield* rows<{ id: string }>`
    update runs set status = new_status, node_id = new_node_id, version = new_version,
      started_at = new_started_at, ended_at = new_ended_at, logs_truncated = new_logs_truncated, error = new_error,
      request = new_request, return_value = new_return_value, logs = new_logs, egress = new_egress, bytes = new_bytes,
      last_line = new_last_line, log_gap = new_log_gap,
      due_at = ${dueAgain(dialect, raw("retry_ms"))}, follows_current = case when new_status = 'queued' then follows_current else 0 end,
      attempt = case when retry_ms is null then attempt else attempt + 1 end,
      fence = case when retry_ms is null then fence else fence + 1 end,
      input = case when keeps_input = 1 then input else null end
    from ${dialect.tableOf(
      runs.map(({ values }) => values),
      columns,
    )}
    where runs.id = new_id and runs.fence = new_fence and (runs.ended_at is null or new_ended_at is not null)
    returning id`
  const ids = new Set(recorded.map(({ id }) => id))
  const written = runs.filter(({ row }) => ids.has(row.id))
  yield* finishRecord(
    dialect,
    written.map(({ row }) => row),
    written.filter(({ hasStarted }) => hasStarted).map(({ row }) => row),
  )
  return runs.map(({ row }) => row.id).filter((id) => !ids.has(id))
}

/** The state of a claimed run at one moment: the run goes on while it is written. */
export interface ClaimedState {
  readonly row: RecordedRow
  readonly values: object
  /** If not, it must not become the latest run of its val. */
  readonly hasStarted: boolean
}

/** The state of a claimed run now. */
export function toClaimedState(run: RunRecord): ClaimedState {
  const row = toRecordedRow(toRunValues(run))
  return { row, values: toNewValues(row, run), hasStarted: run.status !== "queued" }
}

/** Nulls are left out: most of a run that succeeds is null, and PostgreSQL would parse each. */
function toNewValues({ values }: RecordedRow, run: RunRecord): object {
  const retryMs = run.claim?.retryMs
  const changed: Record<string, SqlValue | undefined> = {
    new_fence: run.claim?.fence,
    retry_ms: retryMs,
    keeps_input: keepsInput(run) ? 1 : 0,
  }
  for (const { name, at } of places) if (values[at] != null) changed[name] = values[at]
  if (retryMs === undefined) return changed
  return { ...changed, new_status: "queued", new_node_id: undefined, new_ended_at: undefined }
}
