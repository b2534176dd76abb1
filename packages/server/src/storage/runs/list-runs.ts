import {
  afterCursor,
  type Database,
  join,
  type LongTexts,
  limitPart,
  limitTo,
  list,
  nothing,
  raw,
  readLongTexts,
  type Statement,
  sql,
  within,
} from "@hamlet/database"
import type { Page, PageRequest } from "@hamlet/database/page"
import { replaceEach, toOwnJson } from "@hamlet/kit"
import type { Run, RunFilter, RunPosition, RunStatus } from "../../domain/runs/runs.ts"
import {
  joinedColumns,
  type ListedRunRow,
  listedRunColumns,
  type RunRow,
  runJoins,
  toRun,
} from "./run-rows.ts"

/** The runs that one page looks at, where no index finds those that match. */
const scannedMax = 2_000

/** A page of the runs that fulfil the condition and the filter, the newest first. */
export async function listRuns(
  db: Database,
  condition: Statement,
  filter: RunFilter,
  page: PageRequest,
): Promise<Page<Run>> {
  const rest = matchOf(filter)
  if (rest === nothing) {
    const rows = await db.read<ListedRunRow>(findRuns(condition, filter, page))
    return withErrors(db, rows, page)
  }
  const last = await findLastScanned(db, condition, filter, page)
  const rows = await db.read<ListedRunRow>(findRuns(condition, filter, page, { rest, last }))
  const found = await withErrors(db, rows, page)
  // The page is not full, but there are runs that it has not looked at.
  return found.hasMore || last === undefined
    ? found
    : { ...found, hasMore: true, next: [last.startedAt, last.id] }
}

/** The page of these runs. Long errors are read one at a time. */
function withErrors(
  db: Database,
  rows: readonly ListedRunRow[],
  page: PageRequest,
): Promise<Page<Run>> {
  const texts: LongTexts<ListedRunRow, ListedRunRow> = {
    isShort: ({ isErrorLong }) => isErrorLong,
    async complete(row) {
      const found = await db.first<Pick<Run, "error">>`
        select error as error_json from runs where id = ${row.id}`
      return { ...row, error: found?.error ?? null }
    },
    countChars: ({ error }) => (error ? error.message.length + (error.stack?.length ?? 0) : 0),
  }
  return readLongTexts(rows, page, texts, ({ isErrorLong: _, ...row }) => toRun(row), toKeys)
}

function toKeys(row: RunRow): [number, string] {
  return [row.startedAt, row.id]
}

interface Scan {
  readonly rest: Statement
  /** The last run that the page looks at; undefined if it looks at all of them. */
  readonly last: RunPosition | undefined
}

/**
 * One part for each source of the filter, read from an index in order and limited. Without a filter
 * on the source there is one part.
 */
function findRuns(
  condition: Statement,
  filter: RunFilter,
  page: PageRequest,
  scan?: Scan,
): Statement {
  const from = scan?.last
    ? sql`and (r.started_at, r.id) >= (${scan.last.startedAt}, ${scan.last.id})`
    : nothing
  // Runs that an offset skips are read from indexes only, and those of the page by their ids. For
  // others that takes a quarter longer.
  const isById = page.offset > 0
  const parts = partsOf(
    isById ? keyColumns : joinedColumns,
    condition,
    filter,
    page,
    sql`${from} ${scan?.rest ?? nothing}`,
    limitPart(page),
  )
  const found = sql`(select * from (${join(parts, " union all ")}) parts order by started_at desc, id desc ${limitTo(page)})`
  return sql`
    select ${listedRunColumns} from ${isById ? sql`${found} found join runs r on r.id = found.id` : sql`${found} r`} ${runJoins}
    order by r.started_at desc, r.id desc`
}

const keyColumns = raw("r.id, r.started_at")

/** Reads indexes only. */
async function findLastScanned(
  db: Database,
  condition: Statement,
  filter: RunFilter,
  page: PageRequest,
): Promise<RunPosition | undefined> {
  const parts = partsOf(keyColumns, condition, filter, page, nothing, sql`limit ${scannedMax}`)
  const row = await db.first<{ id: string; startedAt: number }>`
    select id, started_at from (${join(parts, " union all ")}) parts
    order by started_at desc, id desc limit 1 offset ${scannedMax - 1}`
  return row && { id: row.id, startedAt: row.startedAt }
}

function partsOf(
  columns: Statement,
  condition: Statement,
  filter: RunFilter,
  page: PageRequest,
  rest: Statement,
  limit: Statement,
): readonly Statement[] {
  const sources = filter.sources?.map((source) =>
    source === "http"
      ? raw("and r.source = 'http'")
      : sql`and r.source <> 'http' and r.source = ${source}`,
  )
  return (sources ?? [nothing]).map(
    (source) => sql`
    select * from (select ${columns} from runs r left join vals v on v.id = r.val_id
    where ${condition} ${source} ${outcomeOf(filter)} ${within("r.started_at", filter)}
    ${afterCursor(page, "r.started_at, r.id", ["time", "id"])} ${rest}
    order by r.started_at desc, r.id desc ${limit}) part`,
  )
}

/** The statuses of the partial indexes of runs with an error. */
const withError: readonly RunStatus[] = ["failed", "timed_out", "cancelled", "crashed"]

// Its first part repeats the condition of the partial indexes word for word: SQLite uses them only
// then.
const isWithError = raw(
  "and r.status <> 'succeeded' and r.status in ('failed', 'timed_out', 'cancelled', 'crashed')",
)

/** The conditions that an index helps with. */
function outcomeOf({ error, statuses }: RunFilter): Statement {
  const ofError =
    error === undefined
      ? nothing
      : error
        ? sql`${isWithError} and r.error is not null`
        : raw("and r.error is null")
  return statuses?.every((status) => withError.includes(status))
    ? sql`${ofError} ${isWithError} and r.status in (${list(statuses)})`
    : ofError
}

/** The conditions that no index helps with; `nothing` if there are none. */
function matchOf({ statuses, text, fileId, branchId }: RunFilter): Statement {
  const isIndexed = statuses === undefined || statuses.every((it) => withError.includes(it))
  if (isIndexed && (text ?? fileId ?? branchId) === undefined) return nothing
  // An expression, so that PostgreSQL walks the runs by time and does not sort all open ones.
  const ofStatus = isIndexed ? nothing : sql`and (r.status || '') in (${list(statuses ?? [])})`
  const ofFile = fileId === undefined ? nothing : sql`and coalesce(r.file_id, r.val_id) = ${fileId}`
  const ofBranch =
    branchId === undefined ? nothing : sql`and coalesce(r.branch_id, r.val_id) = ${branchId}`
  return sql`${ofStatus} ${ofFile} ${ofBranch} ${text === undefined ? nothing : contains(text)}`
}

/**
 * Whether the text occurs in what a list shows of a run, whatever the case of Latin letters. Requests
 * and errors are JSON: the text is searched for in the form that it has there.
 */
function contains(text: string): Statement {
  const plain = toPattern(text)
  const json = toPattern(toOwnJson(text).slice(1, -1))
  return sql`and (lower(r.last_line) like ${`%${plain}%`} escape '\\'
    or lower(r.request) like ${`%"url":"%${json}%","status":%`} escape '\\'
    or lower(r.error) like ${`{"name":"%${json}%`} escape '\\')`
}

/** A text to search for, in JSON. */
const patternCharsMax = 10_000

function toPattern(text: string): string {
  const lower = replaceEach(text, /[A-Z]/g, (letter) => letter.toLowerCase(), patternCharsMax)
  return replaceEach(lower, /[\\%_]/g, "\\$&", patternCharsMax)
}
