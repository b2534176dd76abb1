import type { QueueDepth, QueueStore } from "../../domain/queue/queue-store.ts"
import { claimsTable, saveClaims, selectClaims, toNodeClaims } from "../claims/node-claims.ts"
import type { Database } from "../database/database.ts"
import { sql } from "../database/sql.ts"
import { writeOnce } from "../database/write-once.ts"
import { claimRuns, releaseRuns } from "./claim-runs.ts"
import { enqueueRuns } from "./enqueue-runs.ts"
import { takeOverRuns } from "./take-over-runs.ts"

/** The queue in the database. */
export function createQueueStore(db: Database): QueueStore {
  const { dialect } = db
  return {
    enqueue: (run) =>
      writeOnce(db, function* () {
        const [id = null] = yield* enqueueRuns(dialect, [run])
        return id
      }),
    async countWaiting(accountId, countMax) {
      const [row] = await db.read<{ count: number }>(sql`
        select count(*) as count from (
          select 1 from runs where account_id = ${accountId} and due_at is not null limit ${countMax}) waiting`)
      return row?.count ?? 0
    },
    claim: (request) => claimRuns(db, request),
    release: (runs, delayMs) => db.write(() => releaseRuns(dialect, runs, delayMs)),
    saveClaims: (nodeId, held) => db.write(() => saveClaims(nodeId, held)),
    drop: ({ id, fence }) =>
      db.write(function* () {
        yield sql`delete from runs where id = ${id} and fence = ${fence} and ended_at is null`
      }),
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
  const claims = toNodeClaims(await db.read(selectClaims)).flatMap((node) => node.claims)
  const [row] = await db.read<{ count: number; due: number | null }>(sql`
    select count(*) as count, sum(case when due_at <= ${now} then 1 else 0 end) as due
    from (select due_at from runs where due_at is not null order by due_at limit ${countMax}) waiting`)
  // Without a condition on `due_at`, for which PostgreSQL would read all runs that wait.
  const claimed = await db.read<{ dueAt: number | null }>(sql`
    select r.due_at from ${claimsTable(db.dialect, claims)} join runs r on r.id = claimed_id
    where r.fence = claimed_fence`)
  const first = await db.read<WaitingRow>(sql`
    select id, fence, ${now} - due_at as waited_ms from runs where due_at is not null order by due_at limit ${claims.length + 1}`)
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
