import {
  firstRow,
  inBatches,
  list,
  raw,
  rows,
  type Script,
  type Statement,
  type Statements,
  sql,
} from "@hamlet/database"
import type { RunPosition } from "../../domain/runs/runs.ts"
import { firstIdOf } from "./run-partitions.ts"

/** Deletes some of the runs of deleted vals. Like all purges, returns whether there may be more. */
export function* purgeDeleted(runsMax: number): Script<boolean> {
  const purge = yield* firstRow<{ valId: string }>`select val_id from run_purges limit 1`
  if (!purge) return false
  const doomed = yield* rows<{ id: string }>`
    select id from runs where val_id = ${purge.valId} limit ${runsMax}`
  yield* deleteRuns(doomed)
  if (doomed.length < runsMax) yield sql`delete from run_purges where val_id = ${purge.valId}`
  return true
}

/**
 * Deletes some of the runs of the table that have ended and whose ids were created before that time;
 * and mails of runs that were deleted with their partition.
 */
export function* purgeOlder(table: string, before: number, runsMax: number): Script<boolean> {
  const first = firstIdOf(before)
  const doomed = yield* rows<{ id: string }>`
    select id from ${raw(table)} where id < ${first} and ended_at is not null order by id limit ${runsMax}`
  yield* deleteRuns(doomed)
  const mails = yield* rows<{ runId: string }>`
    select m.run_id from incoming_mails m where m.run_id < ${first} and not exists (select 1 from runs r where r.id = m.run_id)
    order by m.run_id limit ${runsMax}`
  for (const chunk of inBatches(mails.map(({ runId }) => runId)))
    yield sql`delete from incoming_mails where run_id in (${list(chunk)})`
  return doomed.length === runsMax || mails.length === runsMax
}

/** Deletes some of the val's runs beyond its latest ones, but none that waits in the queue. */
export function* purgeBeyond(valId: string, keptMax: number, runsMax: number): Script<boolean> {
  const doomed = yield* rows<{ id: string }>`
    select id from runs where val_id = ${valId} and due_at is null order by started_at desc, id desc limit ${runsMax} offset ${keptMax}`
  yield* deleteRuns(doomed)
  return doomed.length === runsMax
}

/** The sizes of the runs of an account, the latest first. Reads an index only. */
export function sizesOf(
  accountId: string,
  after: RunPosition | undefined,
  runsMax: number,
): Statement {
  const rest = after ? sql`and (started_at, id) < (${after.startedAt}, ${after.id})` : raw("")
  return sql`
    select id, started_at, bytes from runs where account_id = ${accountId} ${rest} order by started_at desc, id desc limit ${runsMax}`
}

/** Deletes some of the runs of an account that do not wait: the given one and earlier ones. */
export function* purgeFrom(
  accountId: string,
  { startedAt, id }: RunPosition,
  runsMax: number,
): Script<boolean> {
  const doomed = yield* rows<{ id: string }>`
    select id from runs where account_id = ${accountId} and (started_at, id) <= (${startedAt}, ${id}) and due_at is null
    order by started_at desc, id desc limit ${runsMax}`
  yield* deleteRuns(doomed)
  return doomed.length === runsMax
}

/** Deletes runs with what belongs to them. */
export function* deleteRuns(doomed: readonly { readonly id: string }[]): Statements<void> {
  for (const chunk of inBatches(doomed.map(({ id }) => id))) {
    yield sql`delete from run_responses where run_id in (${list(chunk)})`
    yield sql`delete from runs where id in (${list(chunk)})`
  }
}
