import type { Database } from "@hamlet/database"
import type { QueueDepth, QueueStore } from "../../domain/queue/queue-store.ts"
import { writeOnce } from "../accounts/write-once.ts"
import {
  claimsTable,
  listClaims,
  type NodeRow,
  saveClaims,
  selectClaims,
} from "../claims/node-claims.ts"
import { claimRuns, releaseRuns } from "./claim-runs.ts"
import { enqueueRuns } from "./enqueue-runs.ts"
import { takeOverRuns } from "./take-over-runs.ts"

/**
 * The queue in the database. The state of a run is in its row and in the row of its node:
 *
 *   state    status      due_at  node_id  ended_at  nodes.claims  nodes.begun
 *   waiting  queued      set     –        –         –             –
 *   claimed  queued      set     –        –         id: fence     –
 *   begun    queued      set     –        –         id: fence     id: fence    its code may have started
 *   running  running     –       set      –         id: fence     id: fence
 *   ended    an outcome  –       –        set       an entry of either is over
 *
 *   function              from              to
 *   enqueueRuns                             waiting, with fence 1 and attempt 1
 *   claimRuns             waiting and due   claimed
 *   NodeStore.saveBegun   claimed           begun
 *   recordClaimed         claimed to ended  running or ended; waiting if it is retried: fence + 1, attempt + 1
 *   releaseRuns           claimed           waiting: fence + 1
 *   saveClaims            claimed           waiting, if its node does not know of it
 *   takeOverRuns          claimed           waiting: fence + 1
 *                         begun, running    crashed: fence + 1; waiting if it is retried, as above
 *   requestCancel         waiting           cancelled: fence + 1; if claimed, its node ends it
 *   drop                  claimed           deleted, with its val
 *
 * An entry in the row of a node counts only while it has the fence of the run. Runs that a caller waits
 * for are not in the queue: they have fence 0, no `due_at`, and a `node_id` until they end.
 */
export function createQueueStore(db: Database): QueueStore {
  const { dialect } = db
  return {
    enqueue: (run) =>
      writeOnce(db, function* () {
        const [id = null] = yield* enqueueRuns(dialect, [run])
        return id
      }),
    async countWaiting(accountId, countMax) {
      const row = await db.first<{ count: number }>`
        select count(*) as count from (
          select 1 from runs where account_id = ${accountId} and due_at is not null limit ${countMax}) waiting`
      return row?.count ?? 0
    },
    claim: (request) => claimRuns(db, request),
    release: (runs, delayMs) => db.write(() => releaseRuns(dialect, runs, delayMs)),
    saveClaims: (nodeId, held) => db.write(() => saveClaims(nodeId, held)),
    drop: ({ id, fence }) =>
      db.run`
        delete from runs where id = ${id} and fence = ${fence} and ended_at is null`,
    takeOver: (takeover) => takeOverRuns(db, takeover),
    depth: (countMax) => readDepth(db, countMax),
  }
}

interface WaitingRow {
  readonly id: string
  readonly fence: number
  readonly waitedMs: number
}

/** Counts in an index only, and then subtracts the runs that are claimed and not yet recorded so. */
async function readDepth(db: Database, countMax: number): Promise<QueueDepth> {
  const { now } = db.dialect
  const nodes = await db.read<NodeRow>(selectClaims)
  const claims = nodes.flatMap((node) => listClaims(node.claims))
  const row = await db.first<{ count: number; due: number | null }>`
    select count(*) as count, sum(case when due_at <= ${now} then 1 else 0 end) as due
    from (select due_at from runs where due_at is not null order by due_at limit ${countMax}) waiting`
  // Without a condition on `due_at`, for which PostgreSQL would read all runs that wait.
  const claimed = await db.read<{ dueAt: number | null }>`
    select r.due_at from ${claimsTable(db.dialect, claims)} join runs r on r.id = claimed_id
    where r.fence = claimed_fence`
  const first = await db.read<WaitingRow>`
    select id, fence, ${now} - due_at as waited_ms from runs where due_at is not null order by due_at limit ${claims.length + 1}`
  const claimedKeys = new Set(claims.map(({ id, fence }) => `${id}/${fence}`))
  const oldest = first.find(({ id, fence }) => !claimedKeys.has(`${id}/${fence}`))
  const [count, due] = [row?.count ?? 0, row?.due ?? 0]
  return {
    due: Math.max(0, due - claimed.filter(({ dueAt }) => dueAt !== null).length),
    later: count - due,
    oldestMs: Math.max(0, oldest?.waitedMs ?? 0),
    isPartial: count === countMax,
  }
}
