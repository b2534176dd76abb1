import type { RunEgress } from "../../domain/egress.ts"
import type { RunEmail } from "../../domain/mail/inbound/mail.ts"
import {
  evalName,
  type LogGap,
  type LogLine,
  type Run,
  type RunDetail,
  type RunError,
  type RunInput,
  type RunMessage,
  type RunRequest,
  type RunSource,
  type RunStatus,
} from "../../domain/runs/runs.ts"
import type { Privacy } from "../../domain/vals/vals.ts"
import { parseOwnJson, toOwnJson } from "../../shared/hostile-input/bounded.ts"
import { raw, sql } from "../database/sql.ts"
import { toTime } from "../vals/val-rows.ts"

/** A run joined with its val and the val's owner. */
export interface RunRow {
  readonly id: string
  readonly parent_id: string | null
  readonly started_at: number | string
  readonly ended_at: number | string | null
  readonly error: string | null
  readonly source: RunSource
  readonly status: RunStatus
  readonly attempt: number
  readonly version: number
  readonly val_id: string
  readonly file_id: string | null
  readonly file_path: string | null
  readonly branch_id: string | null
  readonly branch_name: string | null
  readonly name: string
  readonly privacy: Privacy
  readonly owner_id: string
  readonly owner_name: string
  readonly request: string | null
  readonly last_line: string | null
  readonly email: string | null
}

/** The same with the columns that only a single run shows. */
export interface RunDetailRow extends RunRow {
  readonly args: string | null
  readonly return_value: string | null
  readonly logs: string | null
  readonly logs_truncated: number
  readonly log_gap: string | null
  readonly response: string | null
  readonly egress: string | null
}

/**
 * The columns of a RunRow; `r` is the run, `v` its val (none for code that is not saved), `u` the
 * owner of the val.
 */
export const runColumns =
  raw(`r.id, r.parent_id, r.started_at, r.ended_at, r.error, r.source, r.status, r.attempt, r.version, r.val_id, r.request, r.last_line,
  r.file_id, (select f.path from files f where f.id = coalesce(r.file_id, r.val_id)) as file_path,
  r.branch_id, (select b.name from branches b where b.id = coalesce(r.branch_id, r.val_id)) as branch_name,
  case when r.source = 'email' then (select m.email from incoming_mails m where m.run_id = r.id) end as email,
  coalesce(v.name, '${evalName}') as name, coalesce(v.privacy, 'private') as privacy, r.owner_id, u.username as owner_name`)

/** The columns of runs that these are made of, and their joins need. */
export const joinedColumns = raw(
  "r.id, r.parent_id, r.started_at, r.ended_at, r.error, r.source, r.status, r.attempt, r.version, r.val_id, r.request, r.last_line, r.file_id, r.branch_id, r.owner_id",
)

/** The joins for these columns. */
export const runJoins = raw("left join vals v on v.id = r.val_id join users u on u.id = r.owner_id")

/** Whether a run is of code that is not saved. */
export const isOfNoVal = raw("r.val_id = r.owner_id")

/**
 * The further columns of a RunDetailRow. The id is a value and not `r.id`, so that PostgreSQL opens one
 * partition of the responses only.
 */
export const toDetailColumns = (id: string) =>
  sql`r.args, r.return_value, r.logs, r.logs_truncated, r.log_gap, r.egress, (select p.response from run_responses p where p.run_id = ${id}) as response`

/** The run as lists show it. */
export function toRun(row: RunRow): Run {
  return {
    id: row.id,
    parentId: row.parent_id,
    startedAt: Number(row.started_at),
    endedAt: toTime(row.ended_at),
    error: fromJson<RunError>(row.error),
    source: row.source,
    status: row.status,
    attempt: row.attempt,
    val: {
      id: row.val_id,
      name: row.name,
      version: row.version,
      privacy: row.privacy,
      ownerId: row.owner_id,
      ownerName: row.owner_name,
    },
    file: row.file_path === null ? null : { id: row.file_id ?? row.val_id, path: row.file_path },
    branch:
      row.branch_name === null ? null : { id: row.branch_id ?? row.val_id, name: row.branch_name },
    request: fromJson<RunRequest>(row.request),
    mail: toMail(fromJson<RunEmail>(row.email)),
    lastLine: row.last_line,
  }
}

function toMail(email: RunEmail | null): Run["mail"] {
  return (
    email && {
      from: email.from ?? "",
      subject: email.subject ?? "",
      isTest: email.isTest ?? false,
    }
  )
}

/** The run with all of its data. */
export function toRunDetail(row: RunDetailRow): RunDetail {
  return {
    ...toRun(row),
    args: fromJson(row.args),
    returnValue: fromJson(row.return_value),
    logs: fromJson<LogLine[]>(row.logs) ?? [],
    logsTruncated: row.logs_truncated === 1,
    logGap: fromJson<LogGap>(row.log_gap),
    response: fromJson<RunMessage>(row.response),
    email: fromJson<RunEmail>(row.email),
    egress: fromJson<RunEgress>(row.egress),
  }
}

/** The JSON text of a value; null for a value without JSON, such as undefined. */
export function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : (toOwnJson(value) ?? null)
}

/** The parsed JSON of a column; null where it is null. */
export function fromJson<T>(text: string | null): T | null {
  return text === null ? null : (parseOwnJson(text) as T)
}

/** What earlier versions of the server stored of a request. */
interface OldRequestInput {
  readonly contentType: string | null
  readonly body: string
}

/** The JSON of the column. */
export type StoredRunInput = RunInput | OldRequestInput

/** What a run is started with, from its column. */
export function fromStoredInput(stored: StoredRunInput | null): RunInput | undefined {
  if (stored === null || "headers" in stored || "kind" in stored) return stored ?? undefined
  return {
    headers: stored.contentType === null ? [] : [["content-type", stored.contentType]],
    body: stored.body,
  }
}
