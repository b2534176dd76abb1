import {
  type Dialect,
  inBatches,
  list,
  rows,
  type Script,
  type SqlValue,
  type Statement,
  type Statements,
  sql,
  type TableColumns,
} from "@hamlet/database"
import { parseOwnJson } from "@hamlet/kit"
import type { EndedRun } from "../../domain/queue/queue-store.ts"
import type { RunError, RunRecord, RunSource, RunStatus } from "../../domain/runs/runs.ts"
import { afterRunsEnded } from "./after-runs-ended.ts"
import { purgeBeyond, purgeDeleted, purgeFrom, purgeOlder } from "./purge-runs.ts"
import { toJson } from "./run-rows.ts"

/**
 * The columns of a run, in order; behind them, whether it ends with this write, its depth and its
 * response. JSON can carry all of them to another thread.
 */
export type RunValues = readonly Exclude<SqlValue, Uint8Array>[]

/** A change of runs that needs no other data. JSON can carry it to another thread. */
export type RunWrite =
  | { readonly kind: "record"; readonly runs: readonly RunValues[] }
  | { readonly kind: "purge_deleted"; readonly runsMax: number }
  | {
      readonly kind: "purge_older"
      readonly table: string
      readonly before: number
      readonly runsMax: number
    }
  | {
      readonly kind: "purge_beyond"
      readonly valId: string
      readonly keptMax: number
      readonly runsMax: number
    }
  | {
      readonly kind: "purge_from"
      readonly accountId: string
      readonly from: { readonly startedAt: number; readonly id: string }
      readonly runsMax: number
    }

const columns = [
  "id",
  "val_id",
  "version",
  "account_id",
  "owner_id",
  "file_id",
  "branch_id",
  "parent_id",
  "node_id",
  "source",
  "status",
  "started_at",
  "ended_at",
  "logs_truncated",
  "error",
  "request",
  "input",
  "args",
  "return_value",
  "logs",
  "egress",
  "last_line",
  "log_gap",
  "bytes",
]

/** The place of a column in the values of a run; -1 if they have none. */
export function columnOf(name: string): number {
  return columns.indexOf(name)
}

/**
 * An upper estimate of the bytes of a run besides its texts: the rest of its row and its index
 * entries.
 */
const rowBytes = 500

/** The bytes of a run with these texts. */
export function countTextBytes(texts: readonly (string | null)[]): number {
  let bytes = rowBytes
  for (const text of texts) if (text !== null) bytes += Buffer.byteLength(text)
  return bytes
}

/**
 * The values of the columns of a run; behind them, whether it ends with this write, its depth and its
 * response. An attempt that is repeated leaves no outcome.
 */
export function toRunValues(run: RunRecord): RunValues {
  const { logs } = run
  const isRetried = run.claim?.retryMs !== undefined
  const texts = [
    isRetried ? null : toJson(run.error),
    toJson(run.request),
    keepsInput(run) ? toJson(run.input) : null,
    toJson(run.args),
    isRetried ? null : toJson(run.returnValue),
    logs.length > 0 ? toJson(logs) : null,
    toJson(run.egress),
    run.lastLine ?? null,
    toJson(run.logGap),
  ]
  const endsNow = run.endedAt !== null && run.isEndWritten !== true && !isRetried
  const response = isRetried ? null : toJson(run.response)
  return [
    run.id,
    run.valId,
    run.version,
    run.accountId,
    run.ownerId,
    toOtherId(run, run.file?.id),
    toOtherId(run, run.file?.branchId),
    run.parentId,
    run.nodeId ?? null,
    run.source,
    run.status,
    run.startedAt,
    run.endedAt,
    run.logsTruncated ? 1 : 0,
    ...texts,
    countTextBytes([...texts, response]),
    endsNow ? 1 : 0,
    run.depth ?? 0,
    endsNow ? response : null,
  ]
}

/** Large arguments are dropped with the end of a run of the queue. */
export function keepsInput({ endedAt, claim, input }: RunRecord): boolean {
  if (endedAt === null || !claim || claim.retryMs !== undefined || !input) return true
  return !("kind" in input && input.kind === "args")
}

/** Null for the id of the val, which most runs have: its first file and `main` have it too. */
function toOtherId({ valId }: RunRecord, id: string | undefined): string | null {
  return id === undefined || id === valId ? null : id
}

const bytesColumn = columnOf("bytes")

/** The bytes that the runs take on disk together. */
export function countRunBytes(runs: readonly RunValues[]): number {
  return runs.reduce((sum, values) => sum + (values[bytesColumn] as number), 0)
}

/** A row, with the columns that its record needs. */
export interface RecordedRow extends RunTimes {
  readonly values: RunValues
  readonly id: string
}

/** When a version ran. */
export interface RunTimes {
  readonly valId: string
  /** Absent for `main`. */
  readonly branchId?: string | undefined
  readonly version: number
  readonly startedAt: number
  readonly endedAt: number | null
}

const fileColumn = columnOf("file_id")
const branchColumn = columnOf("branch_id")
const startedAtColumn = columnOf("started_at")
const endedAtColumn = columnOf("ended_at")

export function toRecordedRow(values: RunValues): RecordedRow {
  const [id, valId, version] = values as readonly [string, string, number]
  return {
    values,
    id,
    valId,
    branchId: (values[branchColumn] as string | null) ?? undefined,
    version,
    startedAt: values[startedAtColumn] as number,
    endedAt: values[endedAtColumn] as number | null,
  }
}

/**
 * The script of a write, which a thread may run. It returns whether the same write, made again, may
 * find more to do.
 */
export function* writeRuns(dialect: Dialect, write: RunWrite): Script<boolean> {
  switch (write.kind) {
    case "record":
      yield* recordRuns(dialect, write.runs)
      return false
    case "purge_deleted":
      return yield* purgeDeleted(write.runsMax)
    case "purge_older":
      return yield* purgeOlder(write.table, write.before, write.runsMax)
    case "purge_beyond":
      return yield* purgeBeyond(write.valId, write.keptMax, write.runsMax)
    case "purge_from":
      return yield* purgeFrom(write.accountId, write.from, write.runsMax)
  }
}

/** Writes runs: new ones, and new states of existing ones. */
function* recordRuns(dialect: Dialect, all: readonly RunValues[]): Script<void> {
  if (all.length === 0) return
  // PostgreSQL rejects a statement that would change a row twice.
  const distinct = [...new Map(all.map(toRecordedRow).map((run) => [run.id, run])).values()]
  // Runs of a val that was deleted meanwhile are dropped: nothing would ever delete them.
  const isOfVal = ({ values, valId }: RecordedRow) => values[ownerColumn] !== valId
  const ofVals = distinct.filter(isOfVal)
  const existing = yield* findExisting([...new Set(ofVals.map((run) => run.valId))])
  const isLeft = (run: RecordedRow) => !isOfVal(run) || existing.has(run.valId)
  const written = distinct.filter(isLeft)
  for (const chunk of inBatches(written)) yield insertRuns(chunk)
  yield* finishRecord(dialect, written, ofVals.filter(isLeft))
}

/** What else is written with runs: their responses, when vals `ran`, and what follows their ends. */
export function* finishRecord(
  dialect: Dialect,
  written: readonly RecordedRow[],
  ran: readonly RunTimes[],
): Statements<void> {
  const responses = written.filter(({ values }) => values[responseColumn] !== null)
  for (const chunk of inBatches(responses)) yield insertResponses(chunk)
  yield* updateLatest(dialect, ran)
  yield* afterRunsEnded(dialect, written.filter(endsNow).map(toEndedRun))
}

const endsNowColumn = columns.length
const depthColumn = columns.length + 1
const responseColumn = columns.length + 2

function endsNow({ values }: RecordedRow): boolean {
  return values[endsNowColumn] === 1
}

const [sourceColumn, statusColumn, errorColumn, accountColumn, ownerColumn] = [
  "source",
  "status",
  "error",
  "account_id",
  "owner_id",
].map(columnOf) as [number, number, number, number, number]

function toEndedRun(run: RecordedRow): EndedRun {
  const { values, id, valId, branchId, version, startedAt, endedAt } = run
  const error = values[errorColumn] as string | null
  return {
    id,
    valId,
    fileId: (values[fileColumn] as string | null) ?? valId,
    branchId: branchId ?? valId,
    version,
    startedAt,
    endedAt: endedAt ?? startedAt,
    accountId: values[accountColumn] as string,
    ownerId: values[ownerColumn] as string,
    source: values[sourceColumn] as RunSource,
    status: values[statusColumn] as RunStatus,
    error: error === null ? null : (parseOwnJson(error) as RunError),
    depth: values[depthColumn] as number,
  }
}

/** The vals among these that exist. */
function* findExisting(valIds: readonly string[]): Statements<ReadonlySet<string>> {
  const existing = new Set<string>()
  for (const chunk of inBatches(valIds)) {
    for (const { id } of yield* rows<{ id: string }>`
      select id from vals where id in (${list(chunk)})`)
      existing.add(id)
  }
  return existing
}

const insertTexts = new Map<number, string>()

/**
 * One statement for many runs takes half as long as one statement for each. It is not built with the
 * `sql` tag, which would check a thousand values for fragments.
 */
function insertRuns(runs: readonly RecordedRow[]): Statement {
  const values: SqlValue[] = []
  for (const run of runs)
    for (let column = 0; column < columns.length; column++)
      values.push(run.values[column] as SqlValue)
  let text = insertTexts.get(runs.length)
  if (text === undefined) {
    text = toInsertText(runs.length)
    insertTexts.set(runs.length, text)
  }
  return { text, values }
}

function toInsertText(count: number): string {
  const toGroup = (row: number) =>
    `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join(", ")})`
  return `insert into runs (${columns.join(", ")}) values ${Array.from({ length: count }, (_, row) => toGroup(row)).join(", ")}
    on conflict (id) do update set status = excluded.status, node_id = excluded.node_id, ended_at = excluded.ended_at,
      logs_truncated = excluded.logs_truncated, error = excluded.error, request = excluded.request,
      return_value = excluded.return_value, logs = excluded.logs, egress = excluded.egress, bytes = excluded.bytes,
      last_line = excluded.last_line, log_gap = excluded.log_gap
    where runs.ended_at is null or excluded.ended_at is not null`
}

const latestColumns: TableColumns = {
  run_val_id: "id",
  run_branch_id: "id",
  run_version: "integer",
  new_started_at: "time",
  new_ended_at: "time",
}

/** Notes at vals and versions when they ran last. */
export function* updateLatest(dialect: Dialect, runs: readonly RunTimes[]): Statements<void> {
  const toRows = (keyOf: (run: RunTimes) => string) =>
    dialect.tableOf(
      latestOf(runs, keyOf).map((run) => ({
        run_val_id: run.valId,
        run_branch_id: run.branchId ?? run.valId,
        run_version: run.version,
        new_started_at: run.startedAt,
        new_ended_at: run.endedAt,
      })),
      latestColumns,
    )
  if (runs.length === 0) return
  yield sql`update vals set run_started_at = new_started_at, run_ended_at = new_ended_at
    from ${toRows((run) => run.valId)}
    where id = run_val_id and (run_started_at is null or run_started_at <= new_started_at)`
  yield sql`update versions set run_started_at = new_started_at, run_ended_at = new_ended_at
    from ${toRows((run) => `${run.branchId ?? run.valId}/${run.version}`)}
    where branch_id = run_branch_id and version = run_version and (run_started_at is null or run_started_at <= new_started_at)`
}

/**
 * The latest run for each key, in the order of the keys, so that two batches wait for each other
 * instead of deadlocking.
 */
function latestOf(
  runs: readonly RunTimes[],
  keyOf: (run: RunTimes) => string,
): readonly RunTimes[] {
  const latest = new Map<string, RunTimes>()
  for (const run of runs) {
    const key = keyOf(run)
    const other = latest.get(key)
    if (!other || other.startedAt <= run.startedAt) latest.set(key, run)
  }
  return [...latest].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, run]) => run)
}

const texts = new Map<number, string>()

// Not built with the `sql` tag, as with the runs themselves: there are thousands per second.
function insertResponses(responses: readonly RecordedRow[]): Statement {
  const values: SqlValue[] = []
  for (const run of responses) values.push(run.id, run.values[responseColumn] as string)
  let text = texts.get(responses.length)
  if (text === undefined) {
    const groups = responses.map((_, row) => `($${2 * row + 1}, $${2 * row + 2})`)
    text = `insert into run_responses (run_id, response) values ${groups.join(", ")}
      on conflict (run_id) do update set response = excluded.response`
    texts.set(responses.length, text)
  }
  return { text, values }
}
