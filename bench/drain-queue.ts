// Measures our queue: `bun drain-queue.ts {database URL} {runs}` queues runs of a val, and prints how many
// it finishes per second. Everything is that of a server, except for a larger batch and that no code
// runs: the runner returns at once. That a run starts is on disk before, as in production.
import { createBegunRuns } from "../packages/server/src/domain/queue/begun-runs.ts"
import { LiveRuns } from "../packages/server/src/domain/runs/live-runs.ts"
import type { Runner, RunSlot } from "../packages/server/src/domain/runs/runner.ts"
import { QueueWorker, queueWorkerLimits } from "../packages/server/src/jobs/queue-worker.ts"
import { Histogram } from "../packages/server/src/shared/histogram.ts"
import { migrate } from "../packages/server/src/storage/database/migrate.ts"
import { sql } from "../packages/server/src/storage/database/sql.ts"
import { migrations } from "../packages/server/src/storage/migrations/index.ts"
import { createNodeStore } from "../packages/server/src/storage/nodes.ts"
import { openPostgres } from "../packages/server/src/storage/postgres/open.ts"
import { enqueueRuns } from "../packages/server/src/storage/runs/enqueue-runs.ts"
import { createQueueStore } from "../packages/server/src/storage/runs/queue.ts"
import { createRunStore } from "../packages/server/src/storage/runs/runs.ts"
import { createValStore } from "../packages/server/src/storage/vals/vals.ts"
import { createVersionStore } from "../packages/server/src/storage/vals/versions.ts"

/** Accounts that the runs belong to, a val each: an account has at most a quarter of the places. */
const accountCount = 8
const batch = 1_000

const [url = "", countText] = process.argv.slice(2)
const count = Number(countText)
const db = await openPostgres(url)
await migrate(db, migrations)
const accounts = await addAccounts()
for (let added = 0; added < count; added += batch) await enqueue(added)

const nodeId = Bun.randomUUIDv7()
const nodes = createNodeStore(db)
await nodes.add({ id: nodeId, host: "bench", pid: 1, pidStarted: "" }, 3_600_000)
const finished = Promise.withResolvers<void>()
let done = 0
const slot: RunSlot = {
  call: async () => ({ kind: "returned", json: "null", kept: null, isTruncated: false }),
  fetch: () => Promise.reject(new Error("No val of this benchmark gets requests")),
  connect: () => Promise.reject(new Error("No val of this benchmark gets requests")),
  stop() {},
  release() {
    done += 1
    if (done === count) finished.resolve()
  },
}
const runner: Runner = {
  async acquire(_, run) {
    await run.begin?.(slot)
    return slot
  },
  retire() {},
  endAllOf() {},
  status: () => ({
    ...{ isolation: "none", processes: 0, ready: 0, runs: 0, waiting: 0 },
    ...{ memoryBytes: 0, memoryBytesMax: 0, coldStarts: new Histogram() },
  }),
}
const fail = (error: unknown) => {
  console.error(error)
  process.exit(1)
}
const runs = createRunStore(db)
const liveRuns = new LiveRuns({ runs, nodeId, now: Date.now, onError: fail })
const worker = new QueueWorker({
  ...{ runs, liveRuns, runner, nodeId, queueStore: createQueueStore(db) },
  begunRuns: createBegunRuns({ nodes, nodeId, retryMs: 500 }),
  ...{ vals: createValStore(db), versions: createVersionStore(db) },
  programs: {
    of: async (val, accountId) => ({
      ...{ key: val.id, valId: val.id, version: 1, type: val.type, ownerId: val.ownerId },
      ...{ accountId, label: "", entryUrl: "", endpoint: "" },
      load: () => Promise.reject(new Error("No code is loaded")),
    }),
    ofUnsaved: () => Promise.reject(new Error("No code is unsaved")),
  },
  // As many at once as the four loops of pg-boss have, so that commits, which wait for the disk, are
  // as few.
  limits: { ...queueWorkerLimits, runsMax: 2_000, runsPerAccountMax: 500 },
  newId: () => Bun.randomUUIDv7(),
  now: Date.now,
  mailInputs: { read: () => Promise.reject(new Error("no mail is stored")) },
  delayOf: () => 0,
  notify() {},
  listen: () => () => {},
  onError: fail,
})

const [startedAt, startedMs] = [Date.now(), performance.now()]
worker.start()
await finished.promise
await worker.stop()
await liveRuns.stop()
const seconds = (performance.now() - startedMs) / 1000
const [ended] = await db.read<{ count: number | string }>(
  sql`select count(*) as count from runs where status = 'succeeded' and ended_at >= ${startedAt}`,
)
if (Number(ended?.count) < count) fail(new Error(`Finished ${ended?.count} of ${count} runs`))
console.log(count / seconds)
process.exit(0)

async function addAccounts(): Promise<readonly { userId: string; valId: string }[]> {
  const added = Array.from({ length: accountCount }, () => ({
    userId: Bun.randomUUIDv7(),
    valId: Bun.randomUUIDv7(),
  }))
  await db.write(function* () {
    for (const { userId, valId } of added) {
      const name = `u${userId.replaceAll("-", "").slice(-12)}`
      yield sql`insert into users (id, username, username_key, created_at) values (${userId}, ${name}, ${name}, 1)`
      yield sql`insert into vals (id, owner_id, name, name_key, privacy, type, version, version_last, created_at, updated_at)
        values (${valId}, ${userId}, 'noop', 'noop', 'private', 'script', 1, 1, 1, 1)`
      yield sql`insert into versions (val_id, version, created_at, code) values (${valId}, 1, 1, '1')`
    }
  })
  return added
}

async function enqueue(from: number): Promise<void> {
  const size = Math.min(batch, count - from)
  const added = Array.from({ length: size }, (_, index) => {
    const { userId: accountId, valId } = accounts[(from + index) % accountCount] as {
      userId: string
      valId: string
    }
    return {
      ...{ id: Bun.randomUUIDv7(), valId, accountId, version: 1, source: "api" as const },
      args: [from + index],
    }
  })
  await db.write(() => enqueueRuns(db.dialect, added))
}
