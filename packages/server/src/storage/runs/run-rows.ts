import { listedTextBytesMax, raw, type Statement, sql } from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type { RunEmail } from "../../domain/mail/inbound/mail.ts"
import { evalName, type Run, type RunDetail, type RunInput } from "../../domain/runs/runs.ts"

/** A run joined with its val and the val's owner. */
export type RunRow = Omit<Run, "mail"> & { readonly mail: RunEmail | null }

/** A row of a list, which may lack the error. */
export interface ListedRunRow extends RunRow {
  readonly isErrorLong: boolean
}

/** A row of a run with the columns that only a single run shows. */
export type RunDetailRow = Omit<RunDetail, "mail" | "email"> & Pick<RunRow, "mail">

/**
 * The columns of a RunRow; `r` is the run, `v` its val (none for code that is not saved), `u` the
 * owner of the val.
 */
export const runColumns = toRunColumns("r.error as error_json")

/** The columns of a row of a list: an error is null where it is long, as its stack may be. */
export const listedRunColumns = toRunColumns(
  `case when octet_length(r.error) > ${listedTextBytesMax} then null else r.error end as error_json,
  case when octet_length(r.error) > ${listedTextBytesMax} then 1 else 0 end as is_error_long`,
)

function toRunColumns(error: string): Statement {
  return raw(`r.id, r.parent_id, r.started_at, r.ended_at, ${error}, r.source, r.status, r.attempt, r.request as request_json, r.last_line,
  coalesce(r.file_id, r.val_id) as file__id, (select f.path from files f where f.id = coalesce(r.file_id, r.val_id)) as file__path,
  coalesce(r.branch_id, r.val_id) as branch__id, (select b.name from branches b where b.id = coalesce(r.branch_id, r.val_id)) as branch__name,
  case when r.source = 'email' then (select m.email from incoming_mails m where m.run_id = r.id) end as mail_json,
  r.val_id as val__id, coalesce(v.name, '${evalName}') as val__name, r.version as val__version,
  coalesce(v.privacy, 'private') as val__privacy, r.owner_id as val__owner_id, u.username as val__owner_name`)
}

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
  sql`r.args as args_json, r.return_value as return_value_json, coalesce(r.logs, '[]') as logs_json, r.logs_truncated as logs_truncated_flag, r.log_gap as log_gap_json,
    r.egress as egress_json, (select p.response from run_responses p where p.run_id = ${id}) as response_json`

/** The run as lists show it. */
export function toRun(row: RunRow): Run {
  return row.mail === null ? (row as Run) : { ...row, mail: toMail(row.mail) }
}

function toMail({ from, subject, isTest = false }: RunEmail): Run["mail"] {
  return { from: from ?? "", subject: subject ?? "", isTest }
}

/** The run with all of its data. */
export function toRunDetail(row: RunDetailRow): RunDetail {
  return { ...row, email: row.mail, mail: row.mail && toMail(row.mail) }
}

/** The JSON text of a value; null for a value without JSON, such as undefined. */
export function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : (toOwnJson(value) ?? null)
}

/** What earlier versions of the server stored of a request. */
interface OldRequestInput {
  readonly contentType: string | null
  readonly body: string
}

/** The JSON of the column. */
export type StoredRunInput = RunInput | OldRequestInput

/** What a run is started with, from its column. */
export function fromStoredInput(stored: StoredRunInput | null | undefined): RunInput | undefined {
  if (!stored || "headers" in stored || "kind" in stored) return stored ?? undefined
  return {
    headers: stored.contentType === null ? [] : [["content-type", stored.contentType]],
    body: stored.body,
  }
}
