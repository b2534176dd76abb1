import type { Page } from "../domain/paging.ts"
import type { RunFilter, RunRecord, RunStore } from "../domain/runs.ts"
import { type Database, firstRow, rows, type Script } from "./database.ts"
import { within } from "./period.ts"
import { type RunDetailRow, type RunRow, runColumns, runDetailColumns, toJson, toRun, toRunDetail } from "./run-rows.ts"
import { limitPart, limitTo, toSlice } from "./slices.ts"
import { join, nothing, raw, type Statement, sql } from "./sql.ts"
import { isVisible } from "./val-rows.ts"

/** Runs in the database. */
export function createRunStore(db: Database): RunStore {
  const list = async (condition: Statement, filter: RunFilter, page: Page) =>
    toSlice(await db.read<RunRow>(listRuns(condition, filter, page)), page, toRun)
  return {
    async find(viewerId, id) {
      const [row] = await db.read<RunDetailRow>(sql`
        select ${runColumns}, ${runDetailColumns} from runs r join vals v on v.id = r.val_id join users u on u.id = v.owner_id
        where r.id = ${id} and (v.owner_id = ${viewerId} or (r.account_id = ${viewerId} and v.privacy <> 'private'))`)
      return row && toRunDetail(row)
    },
    listOfAccount: (accountId, filter, page) => list(sql`r.account_id = ${accountId} and ${isVisible(accountId)}`, filter, page),
    listOfVal: (valId, accountId, filter, page) =>
      // Whoever is not the owner of the val is asked for by account; the index of such runs is small.
      list(
        accountId === undefined
          ? sql`r.val_id = ${valId}`
          : sql`r.val_id = ${valId} and r.account_id = ${accountId} and r.account_id <> r.owner_id`,
        filter,
        page,
      ),
    record: (runs) => db.write(() => recordRuns(runs)),
    purge: (runsMax) => db.write(() => purgeRuns(runsMax)),
  }
}

/** One part for each source that is asked for, each read from an index in order and cut; no filter on the source is one part. */
function listRuns(condition: Statement, filter: RunFilter, page: Page): Statement {
  const sources = filter.sources?.map((source) =>
    source === "http" ? raw("and r.source = 'http'") : sql`and r.source <> 'http' and r.source = ${source}`,
  )
  const parts = (sources ?? [nothing]).map(
    (source) => sql`
    select * from (select r.id, r.started_at from runs r join vals v on v.id = r.val_id
    where ${condition} ${source} ${outcomeOf(filter)} ${within("r.started_at", filter)}
    order by r.started_at desc, r.id desc ${limitPart(page)}) part`,
  )
  return sql`
    select ${runColumns} from (select id, started_at from (${join(parts, " union all ")}) parts order by started_at desc, id desc ${limitTo(page)}) found
    join runs r on r.id = found.id join vals v on v.id = r.val_id join users u on u.id = v.owner_id
    order by r.started_at desc, r.id desc`
}

// Word for word the condition of the partial indexes: SQLite uses them for nothing less.
function outcomeOf(filter: RunFilter): Statement {
  if (filter.error === undefined) return nothing
  return filter.error ? raw("and r.status in ('failed', 'timed_out', 'crashed')") : raw("and r.status = 'succeeded'")
}

function* recordRuns(all: readonly RunRecord[]): Script<void> {
  if (all.length === 0) return
  // The runs of a val that was deleted meanwhile have nobody left to see them, or to delete them.
  const ids = [...new Set(all.map((run) => run.valId))].map((id) => sql`${id}`)
  const known = new Set((yield* rows<{ id: string }>(sql`select id from vals where id in (${join(ids, ", ")})`)).map((val) => val.id))
  const runs = all.filter((run) => known.has(run.valId))
  for (const run of runs) {
    yield sql`insert into runs (id, val_id, version, account_id, owner_id, parent_id, source, status, started_at, ended_at,
        logs_truncated, error, request, args, return_value, logs)
      values (${run.id}, ${run.valId}, ${run.version}, ${run.accountId}, ${run.ownerId}, ${run.parentId}, ${run.source}, ${run.status},
        ${run.startedAt}, ${run.endedAt}, ${run.logsTruncated ? 1 : 0}, ${toJson(run.error)}, ${toJson(run.request)}, ${toJson(run.args)},
        ${toJson(run.returnValue)}, ${run.logs.length > 0 ? toJson(run.logs) : null})
      on conflict (id) do update set status = excluded.status, ended_at = excluded.ended_at, logs_truncated = excluded.logs_truncated,
        error = excluded.error, request = excluded.request, return_value = excluded.return_value, logs = excluded.logs`
  }
  for (const run of latestOf(runs, (run) => run.valId)) {
    yield sql`update vals set run_started_at = ${run.startedAt}, run_ended_at = ${run.endedAt}
      where id = ${run.valId} and (run_started_at is null or run_started_at <= ${run.startedAt})`
  }
  for (const run of latestOf(runs, (run) => `${run.valId}/${run.version}`)) {
    yield sql`update versions set run_started_at = ${run.startedAt}, run_ended_at = ${run.endedAt}
      where val_id = ${run.valId} and version = ${run.version} and (run_started_at is null or run_started_at <= ${run.startedAt})`
  }
}

/** Of the runs with the same key only the latest, in the order of the keys, so that two batches wait for each other instead of deadlocking. */
function latestOf(runs: readonly RunRecord[], keyOf: (run: RunRecord) => string): readonly RunRecord[] {
  const latest = new Map<string, RunRecord>()
  for (const run of runs) {
    const known = latest.get(keyOf(run))
    if (!known || known.startedAt <= run.startedAt) latest.set(keyOf(run), run)
  }
  return [...latest].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, run]) => run)
}

function* purgeRuns(runsMax: number): Script<boolean> {
  const purge = yield* firstRow<{ val_id: string }>(sql`select val_id from run_purges limit 1`)
  if (!purge) return false
  const doomed = yield* rows<{ id: string }>(sql`select id from runs where val_id = ${purge.val_id} limit ${runsMax}`)
  for (const { id } of doomed) yield sql`delete from runs where id = ${id}`
  if (doomed.length < runsMax) yield sql`delete from run_purges where val_id = ${purge.val_id}`
  return true
}
