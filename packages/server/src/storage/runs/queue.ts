import type { QueueStore } from "../../domain/queue/queue-store.ts"
import type { Database } from "../database/database.ts"
import { sql } from "../database/sql.ts"
import { writeOnce } from "../database/write-once.ts"
import { claimRuns, releaseRuns, releaseUnknown } from "./claim-runs.ts"
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
      const [row] = await db.read<{ count: number | string }>(sql`
        select count(*) as count from (
          select 1 from runs where account_id = ${accountId} and due_at is not null limit ${countMax}) waiting`)
      return Number(row?.count ?? 0)
    },
    claim: (request) => claimRuns(db, request),
    release: (nodeId, runs, delayMs) => db.write(() => releaseRuns(dialect, nodeId, runs, delayMs)),
    releaseUnknown: (nodeId, known) => db.write(() => releaseUnknown(dialect, nodeId, known)),
    drop: ({ id, fence }) =>
      db.write(function* () {
        yield sql`delete from runs where id = ${id} and fence = ${fence} and ended_at is null`
      }),
    takeOver: (takeover) => db.write(() => takeOverRuns(dialect, takeover)),
    async depth(countMax) {
      const [row] = await db.read<{
        due: number | string | null
        count: number | string
        oldest_ms: number | string | null
      }>(sql`
        select count(*) as count, sum(case when due_at <= ${dialect.now} then 1 else 0 end) as due,
          max(${dialect.now} - due_at) as oldest_ms
        from (select due_at from runs where due_at is not null order by due_at limit ${countMax}) waiting`)
      const count = Number(row?.count ?? 0)
      const due = Number(row?.due ?? 0)
      return {
        due,
        later: count - due,
        oldestMs: Math.max(0, Number(row?.oldest_ms ?? 0)),
        isPartial: count === countMax,
      }
    },
  }
}
