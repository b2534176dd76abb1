import type { ClaimedBatch, ClaimRequest, Fenced } from "../../domain/queue/queue-store.ts"
import type { ClaimedRun } from "../../domain/queue/queued-run.ts"
import type { LogLine, RunRequest, RunSource } from "../../domain/runs/runs.ts"
import { inBatches, list } from "../database/batch-sizes.ts"
import { type Database, rows, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { join, raw, type Statement, sql } from "../database/sql.ts"
import { fromStoredInput, type StoredRunInput } from "./run-input.ts"
import { fromJson } from "./run-rows.ts"

const limits = {
  /** Accounts that one claim looks at. */
  accountsSeenMax: 256,
  /** Accounts that one claim takes runs of. Each needs a part of the statement. */
  accountsMax: 32,
}

interface TurnRow {
  readonly account_id: string
  /** Whether it has a run that is due. */
  readonly is_due: number
}

/** The accounts of one claim, each with the number of runs to take. */
interface Turns {
  readonly shares: readonly { readonly accountId: string; readonly runsMax: number }[]
  readonly next: string | null
}

interface ClaimedRow {
  readonly id: string
  readonly val_id: string
  readonly version: number
  readonly follows_current: number
  readonly account_id: string
  readonly owner_id: string
  readonly parent_id: string | null
  readonly source: RunSource
  readonly started_at: number | string
  readonly args: string | null
  readonly input: string | null
  readonly request: string | null
  readonly logs: string | null
  readonly logs_truncated: number
  readonly fence: number
  readonly attempt: number
  readonly retries: number
  readonly depth: number
  readonly is_suspended: number
}

/**
 * Binds due runs to the node. Accounts take turns: one with many runs delays the others by no more
 * than its share of one claim. Neither statement reads more rows than it returns, however many wait.
 */
export async function claimRuns(db: Database, request: ClaimRequest): Promise<ClaimedBatch> {
  const turns = share(await db.read<TurnRow>(listTurns(db.dialect, request.after)), request)
  if (turns.shares.length === 0) return { runs: [], next: turns.next }
  const claimed = await db.writeOne<ClaimedRow>(bindRuns(db.dialect, request.nodeId, turns))
  return { runs: claimed.map(toClaimedRun).sort(bySchedule), next: turns.next }
}

/** Puts claimed runs into the queue again. Their claims are over. */
export function* releaseRuns(
  dialect: Dialect,
  nodeId: string,
  runs: readonly Fenced[],
  delayMs: number,
): Script<void> {
  yield sql`update runs set node_id = null, due_at = ${dialect.now} + ${delayMs}, fence = runs.fence + 1
    from ${dialect.fromJson(
      runs.map(({ id, fence }) => ({ run_id: id, run_fence: fence })),
      { run_id: "id", run_fence: "integer" },
    )}
    where runs.id = run_id and runs.fence = run_fence and runs.node_id = ${nodeId} and runs.status = 'queued'`
}

/** Puts the claimed runs into the queue again that the node does not know of. */
export function* releaseUnknown(
  dialect: Dialect,
  nodeId: string,
  known: ReadonlySet<string>,
): Script<void> {
  const claimed = yield* rows<{ id: string }>(sql`
    select r.id from runs r where r.status <> 'succeeded' and r.status in ('queued', 'running')
      and r.node_id = ${nodeId} and r.status = 'queued' and r.fence > 0`)
  const unknown = claimed.map(({ id }) => id).filter((id) => !known.has(id))
  for (const ids of inBatches(unknown))
    yield sql`update runs set node_id = null, due_at = ${dialect.now}, fence = fence + 1
      where id in (${list(ids)}) and node_id = ${nodeId} and status = 'queued' and fence > 0`
}

/**
 * The accounts with waiting runs, from the one behind `after` on. Each step is one search in the
 * index: the first run behind all runs of the account before.
 */
function listTurns(dialect: Dialect, after: string | null): Statement {
  const first = after === null ? raw("") : sql`and r.account_id > ${after}`
  return sql`
    with recursive turns (account_id, due_at, place) as (
      select * from (select r.account_id, r.due_at, 1 as place from runs r
        where r.due_at is not null ${first} order by r.account_id, r.due_at, r.id limit 1) first_turn
      union all
      select r.account_id, r.due_at, t.place + 1
      from turns t join runs r on r.id = (
        select n.id from runs n where n.due_at is not null and n.account_id > t.account_id
        order by n.account_id, n.due_at, n.id limit 1)
      where t.place < ${limits.accountsSeenMax}
    )
    select account_id, case when due_at <= ${dialect.now} then 1 else 0 end as is_due from turns order by place`
}

/** Divides the runs among the accounts that have any, as equally as their room allows. */
function share(turns: readonly TurnRow[], { runsMax, roomOf }: ClaimRequest): Turns {
  const shares: { accountId: string; runsMax: number }[] = []
  const accountsMax = Math.min(limits.accountsMax, runsMax)
  let last: string | null = null
  for (const { account_id: accountId, is_due: isDue } of turns) {
    if (shares.length === accountsMax) break
    last = accountId
    const room = isDue === 1 ? roomOf(accountId) : 0
    if (room > 0) shares.push({ accountId, runsMax: room })
  }
  const isComplete = turns.length < limits.accountsSeenMax && last === turns.at(-1)?.account_id
  const equal = Math.max(1, Math.floor(runsMax / Math.max(1, shares.length)))
  return {
    shares: shares.map((it) => ({ ...it, runsMax: Math.min(it.runsMax, equal) })),
    next: isComplete || turns.length === 0 ? null : last,
  }
}

// Materialized: PostgreSQL could otherwise run the selects that lock rows more than once. The update
// does not repeat their conditions: with statistics from when nothing waited, PostgreSQL would search
// all waiting runs for those of `due`. The node is locked, so that no run is bound to a node that is
// being declared gone.
function bindRuns(dialect: Dialect, nodeId: string, { shares }: Turns): Statement {
  const parts = shares.map(
    ({ accountId, runsMax }) => sql`
      select id from (select r.id from runs r where r.account_id = ${accountId} and r.due_at is not null
        and r.due_at <= ${dialect.now} order by r.due_at, r.id limit ${runsMax} ${dialect.skipLocked}) part`,
  )
  return sql`
    with node (id) as materialized (select id from nodes where id = ${nodeId} and is_gone = 0 ${dialect.forUpdate}),
      due (id) as materialized (${join(parts, " union all ")})
    update runs set node_id = ${nodeId}, due_at = null, fence = fence + 1
    where id in (select id from due) and exists (select 1 from node)
    returning id, val_id, version, follows_current, account_id, owner_id, parent_id, source, started_at,
      args, input, request, logs, logs_truncated, fence, attempt, retries, depth,
      (select case when u.suspended_at is null then 0 else 1 end from users u where u.id = runs.account_id) as is_suspended`
}

function toClaimedRun(row: ClaimedRow): ClaimedRun {
  return {
    id: row.id,
    valId: row.val_id,
    version: row.version,
    followsCurrent: row.follows_current === 1,
    accountId: row.account_id,
    ownerId: row.owner_id,
    parentId: row.parent_id,
    source: row.source,
    queuedAt: Number(row.started_at),
    args: fromJson(row.args),
    input: fromStoredInput(fromJson<StoredRunInput>(row.input)) ?? null,
    request: fromJson<RunRequest>(row.request),
    logs: fromJson<LogLine[]>(row.logs) ?? [],
    logsTruncated: row.logs_truncated === 1,
    fence: row.fence,
    attempt: row.attempt,
    retries: row.retries,
    depth: row.depth,
    // An account that is gone runs nothing either.
    isAccountSuspended: row.is_suspended !== 0,
  }
}

function bySchedule(one: ClaimedRun, other: ClaimedRun): number {
  return one.queuedAt - other.queuedAt || (one.id < other.id ? -1 : 1)
}
