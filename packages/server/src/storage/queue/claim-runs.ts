import {
  type Database,
  type Dialect,
  join,
  raw,
  rows,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import type { Fenced } from "../../domain/claims.ts"
import type {
  ClaimedBatch,
  ClaimedRun,
  ClaimRequest,
  HeldClaim,
} from "../../domain/queue/queue-store.ts"
import {
  claimsTable,
  listClaims,
  lockClaims,
  type StoredClaims,
  saveClaims,
} from "../claims/node-claims.ts"
import { type Line, readTurns, type Turns } from "../claims/turns.ts"
import { fromStoredInput, type StoredRunInput } from "../runs/run-rows.ts"

/** Runs wait while they have a `due_at`, also claimed ones: those are left out later. */
const line: Line = {
  table: raw("runs"),
  owner: raw("account_id"),
  dueAt: raw("due_at"),
  isFree: raw("due_at is not null"),
}

type ClaimedRow = Omit<ClaimedRun, "input"> & {
  readonly input: StoredRunInput | null
}

/**
 * Claims due runs for the node, of accounts in turn. Each statement reads only the rows that it
 * returns and those that nodes have claimed, however many wait.
 */
export async function claimRuns(db: Database, request: ClaimRequest): Promise<ClaimedBatch> {
  const { shares, next } = await readTurns(db, line, request.runsMax, request)
  if (shares.length === 0) return { runs: [], next }
  const claimed = await db.write(() => claimOf(db.dialect, request, shares))
  return { runs: claimed.map(toClaimedRun).sort(bySchedule), next }
}

/** The node knows its claims better than the database does: a claim that it does not hold is over. */
function* claimOf(
  dialect: Dialect,
  { nodeId, held }: ClaimRequest,
  shares: Turns["shares"],
): Script<readonly ClaimedRow[]> {
  yield* lockClaims(dialect)
  const others = yield* rows<{ claims: StoredClaims }>`
    select claims as claims_json from nodes where id <> ${nodeId} and claims is not null`
  const claimed = toFences([...others.flatMap(({ claims }) => listClaims(claims)), ...held])
  const due = Map.groupBy(
    yield* rows<HeldClaim>(listDue(dialect, shares, claimed)),
    (run) => run.accountId,
  )
  const taken = shares.flatMap(({ ownerId, countMax }) => {
    const fences = claimed.get(ownerId)
    // A claim under another number is over.
    const isFree = ({ id, fence }: HeldClaim) => fences?.get(id) !== fence
    return due.get(ownerId)?.filter(isFree).slice(0, countMax) ?? []
  })
  if (taken.length === 0) return []
  if (!(yield* saveClaims(nodeId, [...held, ...taken]))) return []
  return yield* rows<ClaimedRow>(readClaimed(dialect, taken))
}

/**
 * The numbers of the claims by account and run. A node that has released a run may still list its
 * claim: the number of the claim that is valid is higher.
 */
function toFences(claims: readonly HeldClaim[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const accounts = new Map<string, Map<string, number>>()
  for (const { accountId, id, fence } of claims) {
    const fences = accounts.get(accountId) ?? new Map<string, number>()
    accounts.set(accountId, fences.set(id, Math.max(fence, fences.get(id) ?? 0)))
  }
  return accounts
}

/**
 * When a run is due that waits again; null without a delay. One that is to be cancelled is due at
 * once: the node that claims it ends it.
 */
export function dueAgain(dialect: Dialect, delayMs: Statement | number): Statement {
  return sql`${dialect.now} + ${delayMs} * (1 - runs.cancel_requested)`
}

/**
 * Puts claimed runs into the queue again. Their claims are over. With a plain condition on the status,
 * PostgreSQL would search all open runs for them.
 */
export function* releaseRuns(
  dialect: Dialect,
  runs: readonly Fenced[],
  delayMs: number,
): Script<void> {
  yield sql`update runs set node_id = null, due_at = ${dueAgain(dialect, delayMs)}, fence = runs.fence + 1
    from ${claimsTable(dialect, runs)}
    where runs.id = claimed_id and runs.fence = claimed_fence and case runs.status when 'queued' then 1 else 0 end = 1`
}

/**
 * The first due runs of each account: behind those that are claimed there may be as many as it gets.
 * The caller compares the claims, because PostgreSQL would prepare to do so for each account.
 */
function listDue(
  dialect: Dialect,
  shares: Turns["shares"],
  claimed: ReadonlyMap<string, ReadonlyMap<string, number>>,
): Statement {
  const parts = shares.map(({ ownerId, countMax }) => {
    const dueMax = countMax + (claimed.get(ownerId)?.size ?? 0)
    return sql`
      select id, fence, account_id from (select r.id, r.fence, r.account_id from runs r where r.account_id = ${ownerId}
        and r.due_at is not null and r.due_at <= ${dialect.now} order by r.due_at, r.id limit ${dueMax}) part`
  })
  return join(parts, " union all ")
}

/** An account that is gone runs nothing, as one that is suspended. */
function readClaimed(dialect: Dialect, claims: readonly Fenced[]): Statement {
  return sql`
    select r.id, r.val_id, r.file_id as started_file__id, coalesce(r.branch_id, r.val_id) as started_file__branch_id, r.version, r.follows_current as follows_current_flag, r.account_id, r.owner_id, r.parent_id, r.source, r.started_at as queued_at,
      r.args as args_json, r.input as input_json, r.request as request_json, coalesce(r.logs, '[]') as logs_json, r.logs_truncated as logs_truncated_flag, r.log_gap as log_gap_json, r.fence, r.attempt, r.retries, r.depth, r.cancel_requested as is_to_be_cancelled,
      case when u.id is not null and u.suspended_at is null then 0 else 1 end as is_account_suspended
    from ${claimsTable(dialect, claims)} join runs r on r.id = claimed_id left join users u on u.id = r.account_id`
}

function toClaimedRun(row: ClaimedRow): ClaimedRun {
  return { ...row, input: fromStoredInput(row.input) ?? null }
}

function bySchedule(one: ClaimedRun, other: ClaimedRun): number {
  return one.queuedAt - other.queuedAt || (one.id < other.id ? -1 : 1)
}
