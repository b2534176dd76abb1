import type { EndedRun } from "../../domain/queue/queue-store.ts"
import { isRequestInput, type RunRecord } from "../../domain/runs/runs.ts"
import { rows, type Script } from "../database/database.ts"
import type { Dialect, TableColumns } from "../database/dialect.ts"
import { raw } from "../database/sql.ts"
import { afterRunsEnded } from "../runs/after-runs-ended.ts"
import {
  countTextBytes,
  type RunTimes,
  recordResponses,
  updateLatest,
} from "../runs/record-runs.ts"
import { toJson } from "../runs/run-rows.ts"
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
  const written = runs.filter(({ id }) => ids.has(id))
  yield* recordResponses(
    written.flatMap(({ id, response }) => (response ? [{ id, response }] : [])),
  )
  yield* updateLatest(
    dialect,
    written.flatMap(({ times }) => times ?? []),
  )
  yield* afterRunsEnded(
    dialect,
    written.flatMap(({ ended }) => ended ?? []),
  )
  return runs.map(({ id }) => id).filter((id) => !ids.has(id))
}

/** The state of a claimed run at one moment: the run goes on while it is written. */
export interface ClaimedState {
  readonly id: string
  readonly values: object
  /** Undefined if it has not started: it must not become the latest run of its val. */
  readonly times: RunTimes | undefined
  /** Set if it ends with this write. */
  readonly ended: EndedRun | undefined
  /** Set if it ends with this write and its response is kept. */
  readonly response: string | null
}

/** The state of a claimed run now. */
export function toClaimedState(run: RunRecord): ClaimedState {
  const { id, valId, version, startedAt, endedAt } = run
  const branchId = run.file?.branchId
  return {
    id,
    values: toNewValues(run),
    times: run.status === "queued" ? undefined : { valId, branchId, version, startedAt, endedAt },
    ended: endsNow(run) ? toEndedRun(run) : undefined,
    response: endsNow(run) ? toJson(run.response) : null,
  }
}

function toNewValues(run: RunRecord): object {
  const retryMs = run.claim?.retryMs
  const isRetried = retryMs !== undefined
  const keepsInput =
    run.endedAt === null || isRetried || !run.input || isRequestInput(run.input)
      ? true
      : run.input.kind !== "args"
  const texts = [
    isRetried ? null : toJson(run.error),
    toJson(run.request),
    isRetried ? null : toJson(run.returnValue),
    run.logs.length > 0 ? toJson(run.logs) : null,
    toJson(run.egress),
    run.lastLine ?? null,
    toJson(run.logGap),
    isRetried ? null : toJson(run.response),
  ]
  const [error, request, returnValue, logs, egress, lastLine, logGap] = texts
  // Nulls are left out: most of a run that succeeds is null, and PostgreSQL would parse each.
  return {
    new_id: run.id,
    new_fence: run.claim?.fence,
    new_version: run.version,
    new_status: isRetried ? "queued" : run.status,
    new_node_id: isRetried ? undefined : (run.nodeId ?? undefined),
    new_started_at: run.startedAt,
    new_ended_at: isRetried ? undefined : (run.endedAt ?? undefined),
    new_logs_truncated: run.logsTruncated ? 1 : 0,
    new_error: error ?? undefined,
    new_request: request ?? undefined,
    new_return_value: returnValue ?? undefined,
    new_logs: logs ?? undefined,
    new_egress: egress ?? undefined,
    new_last_line: lastLine ?? undefined,
    new_log_gap: logGap ?? undefined,
    new_bytes: countTextBytes([...texts, toJson(run.args), keepsInput ? toJson(run.input) : null]),
    retry_ms: retryMs,
    keeps_input: keepsInput ? 1 : 0,
  }
}

function endsNow(run: RunRecord): boolean {
  return run.endedAt !== null && run.isEndWritten !== true && run.claim?.retryMs === undefined
}

function toEndedRun(run: RunRecord): EndedRun {
  const { id, valId, version, accountId, ownerId, source, status, startedAt, error } = run
  return {
    id,
    valId,
    fileId: run.file?.id ?? valId,
    branchId: run.file?.branchId ?? valId,
    version,
    accountId,
    ownerId,
    source,
    status,
    startedAt,
    error,
    endedAt: run.endedAt ?? startedAt,
    depth: run.depth ?? 0,
  }
}
