import type { RunRequest, RunStatus } from "../../domain/runs/runs.ts"
import type { RunBatches, RunSample, Span, StatStore } from "../../domain/stats/stats.ts"
import { parseOwnJson } from "../../shared/hostile-input/bounded.ts"
import type { Database } from "../database/database.ts"
import { firstId } from "../database/pagination.ts"
import { join, type Statement, sql } from "../database/sql.ts"
import { isVisible, toTime } from "../vals/val-rows.ts"

const limits = {
  /**
   * Reading these blocks the event loop on SQLite, for a few milliseconds. That is also why the
   * caller counts them and not the statement: window functions take four times as long as reading,
   * in one piece.
   */
  runsAtOnceMax: 1_000,
  /** How many runs a statement names. */
  requestsAtOnceMax: 200,
}

interface MarkRow {
  readonly id: string
  readonly val_id: string
  readonly started_at: number | string
  readonly ended_at: number | string | null
  readonly status: RunStatus
  readonly owner_id: string | null
}

/** Runs in the database, read to be counted. */
export function createStatStore(db: Database, given: Partial<typeof limits> = {}): StatStore {
  const { runsAtOnceMax, requestsAtOnceMax } = { ...limits, ...given }
  const read = readInTurn(db)
  return {
    // A run that the user may no longer see yields only its position, so that the caller can read
    // on: it counts towards the limit. A run of unsaved code has the id of its user as its val id.
    walkAccount: (accountId, span) =>
      walk(read, span, runsAtOnceMax, (part) => {
        const runs = partOf(sql`r.account_id = ${accountId}`, part)
        return sql`
          select found.id, found.val_id, found.started_at, found.ended_at, found.status,
            case when found.val_id = ${accountId} then found.owner_id else v.owner_id end as owner_id
          from (${runs}) found left join vals v on v.id = found.val_id and ${isVisible(accountId)}
          order by found.started_at desc, found.id desc`
      }),
    walkVal: (valId, accountId, span) =>
      walk(read, span, runsAtOnceMax, (part) =>
        // Runs of a viewer who does not own the val are read by account, from a small index of such
        // runs.
        partOf(
          accountId === undefined
            ? sql`r.val_id = ${valId}`
            : sql`r.val_id = ${valId} and r.account_id = ${accountId} and r.account_id <> r.owner_id`,
          part,
        ),
      ),
    async findRequests(runIds) {
      const found = new Map<string, RunRequest>()
      for (let from = 0; from < runIds.length; from += requestsAtOnceMax) {
        const ids = runIds.slice(from, from + requestsAtOnceMax).map((id) => sql`${id}`)
        const rows = await db.read<{ id: string; request: string }>(
          sql`select id, request from runs where request is not null and id in (${join(ids, ", ")})`,
        )
        for (const row of rows) found.set(row.id, parseOwnJson(row.request) as RunRequest)
      }
      return found
    },
  }
}

/** The runs after `since` that are older than a position in the list. */
interface Part {
  readonly since: number
  readonly before: { readonly at: number; readonly id: string }
  readonly runsMax: number
}

function partOf(condition: Statement, { since, before, runsMax }: Part): Statement {
  return sql`
    select r.id, r.val_id, r.started_at, r.ended_at, r.status, r.owner_id from runs r
    where ${condition} and r.started_at > ${since} and (r.started_at, r.id) < (${before.at}, ${before.id})
    order by r.started_at desc, r.id desc limit ${runsMax}`
}

type Read = (statement: Statement) => Promise<readonly MarkRow[]>

async function* walk(
  read: Read,
  span: Span,
  runsMax: number,
  toStatement: (part: Part) => Statement,
): RunBatches {
  // With the smallest id, the position before every run that started at that time.
  let before = { at: span.until + 1, id: firstId }
  for (;;) {
    const rows = await read(toStatement({ since: span.since, before, runsMax }))
    yield rows.map(toMark)
    const last = rows.at(-1)
    if (rows.length < runsMax || !last) return
    before = { at: Number(last.started_at), id: last.id }
  }
}

/**
 * Runs all reads one after the other, with a turn of the event loop after each: a synchronous
 * database would otherwise block other requests, and many callers together would leave hardly any
 * turns.
 */
function readInTurn(db: Database): Read {
  let previous: Promise<unknown> = Promise.resolve()
  const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve))
  return (statement) => {
    const rows = previous.then(() => db.read<MarkRow>(statement))
    previous = rows.then(nextTurn, nextTurn)
    return rows
  }
}

function toMark(row: MarkRow): RunSample {
  const { id, val_id: valId, owner_id: ownerId, status } = row
  return {
    id,
    valId,
    ownerId,
    status,
    startedAt: Number(row.started_at),
    endedAt: toTime(row.ended_at),
  }
}
