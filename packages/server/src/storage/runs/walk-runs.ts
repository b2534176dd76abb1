import {
  type Database,
  type Dialect,
  firstId,
  join,
  raw,
  type Statement,
  sql,
} from "@hamlet/database"
import type { AccountView } from "../../domain/access/rights.ts"
import type { RunBatches, RunSample, Span } from "../../domain/stats/stats.ts"
import { isVisible } from "../access/visibility.ts"

/** A walk over runs by the time of their start. */
export interface RunWalk {
  readonly span: Span
  readonly direction: "asc" | "desc"
  /** Runs of one batch. */
  readonly runsMax: number
}

/** The runs of a walk that come behind a position. */
export interface Part extends RunWalk {
  readonly behind: { readonly at: number; readonly id: string }
}

/** Yields the runs in batches. `toStatement` selects the columns of `partOf`, in its order. */
export async function* walkRuns(
  read: ReadSamples,
  walk: RunWalk,
  toStatement: (part: Part) => Statement,
): RunBatches {
  const { since, until } = walk.span
  // With the smallest id, the position before every run that started at that time.
  let behind = { at: (walk.direction === "desc" ? until : since) + 1, id: firstId }
  for (;;) {
    const rows = await read(toStatement({ ...walk, behind }))
    yield rows
    const last = rows.at(-1)
    if (rows.length < walk.runsMax || !last) return
    behind = { at: last.startedAt, id: last.id }
  }
}

/** The file and the branch of a run of the entry file have the id of the val. */
export const placeColumns = raw(
  "coalesce(r.file_id, r.val_id) as file_id, coalesce(r.branch_id, r.val_id) as branch_id",
)

/** The runs of the part that fulfil the condition; `owner` is null for one that is not shown. */
export function partOf(
  condition: Statement,
  part: Part,
  owner: Statement = raw("r.owner_id"),
): Statement {
  const { span, behind, direction, runsMax } = part
  return sql`
    select r.id, r.val_id, ${placeColumns}, r.started_at, r.ended_at, r.status, ${owner} as owner_id from runs r
    where ${condition} and r.started_at > ${span.since} and r.started_at <= ${span.until}
      and (r.started_at, r.id) ${raw(direction === "desc" ? "<" : ">")} (${behind.at}, ${behind.id})
    order by r.started_at ${raw(direction)}, r.id ${raw(direction)} limit ${runsMax}`
}

/** The first runs of all these parts together, which are in the same order. */
export function mergeParts(parts: readonly Statement[], { direction, runsMax }: Part): Statement {
  const [first] = parts
  if (first && parts.length === 1) return first
  const selected = parts.map((part) => sql`select * from (${part}) part`)
  return sql`
    select * from (${join(selected, " union all ")}) parts
    order by started_at ${raw(direction)}, id ${raw(direction)} limit ${runsMax}`
}

/**
 * Selects the runs with their vals and owners. A run whose val the caller may no longer see yields
 * only its position, so that the caller can read on: it counts towards the limit. A run of unsaved
 * code has the id of its account as its val id.
 */
export function withVisibleOwner(
  dialect: Dialect,
  view: AccountView,
  runs: Statement,
  { direction }: Pick<Part, "direction">,
): Statement {
  return sql`
    select found.id, found.val_id, found.file_id, found.branch_id, found.started_at, found.ended_at, found.status,
      case when found.val_id = ${view.ownerId} then found.owner_id else v.owner_id end as owner_id
    from (${runs}) found left join vals v on v.id = found.val_id and ${isVisible(dialect, view)}
    order by found.started_at ${raw(direction)}, found.id ${raw(direction)}`
}

/** Reads samples of runs. */
export type ReadSamples = (statement: Statement) => Promise<readonly RunSample[]>

/**
 * Runs all reads one after the other, with a turn of the event loop after each: a synchronous
 * database would otherwise block other requests, and many callers together would leave hardly any
 * turns.
 */
export function readInTurn(db: Database): ReadSamples {
  let previous: Promise<unknown> = Promise.resolve()
  const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve))
  return (statement) => {
    const rows = previous.then(() => db.read<RunSample>(statement))
    previous = rows.then(nextTurn, nextTurn)
    return rows
  }
}
