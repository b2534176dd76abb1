import { type Database, migrate, sql } from "@hamlet/database"
import { openPostgres } from "@hamlet/database/postgres"
import { openSqlite } from "@hamlet/database/sqlite"
import {
  createBegunRuns,
  createClaimedRuns,
} from "../../packages/server/src/domain/queue/claimed-runs.ts"
import type { NewQueuedRun } from "../../packages/server/src/domain/queue/queue-store.ts"
import {
  ResponseKeeper,
  responseLimits,
} from "../../packages/server/src/domain/runs/contents/response-keeper.ts"
import { LiveRuns } from "../../packages/server/src/domain/runs/live-runs.ts"
import { QueueWorker, queueWorkerLimits } from "../../packages/server/src/jobs/queue-worker.ts"
import { migrations } from "../../packages/server/src/storage/migrations/index.ts"
import { createNodeStore } from "../../packages/server/src/storage/nodes.ts"
import { enqueueRuns } from "../../packages/server/src/storage/queue/enqueue-runs.ts"
import { createQueueStore } from "../../packages/server/src/storage/queue/queue.ts"
import { createRunStore } from "../../packages/server/src/storage/runs/runs.ts"
import { createValRow, createValStore } from "../../packages/server/src/storage/vals/vals.ts"
import { createVersionStore } from "../../packages/server/src/storage/vals/versions.ts"
import { createIdleRunner, type RunWatch } from "./idle-runner.ts"

/** An account with a val, for runs of a benchmark. */
export interface Account {
  readonly accountId: string
  readonly valId: string
}

const addedAtOnce = 1_000

/** A database address, or the file of an SQLite database. */
export async function openDatabase(place: string): Promise<Database> {
  const db = place.startsWith("postgres") ? await openPostgres(place) : openSqlite(place)
  await migrate(db, migrations)
  return db
}

export async function addAccounts(db: Database, count: number): Promise<readonly Account[]> {
  const added = Array.from({ length: count }, () => ({
    accountId: Bun.randomUUIDv7(),
    valId: Bun.randomUUIDv7(),
  }))
  await db.write(function* () {
    for (const { accountId, valId } of added) {
      const name = `u${accountId.replaceAll("-", "").slice(-12)}`
      yield sql`insert into users (id, username, username_key, created_at) values (${accountId}, ${name}, ${name}, 1)`
      yield* createValRow(
        db.dialect,
        {
          id: valId,
          ownerId: accountId,
          ownerName: name,
          name: "noop",
          privacy: "private",
          type: "script",
          readme: null,
          source: { code: "1", imports: [] },
        },
        1,
        { depth: 0, actorId: accountId },
      )
    }
  })
  return added
}

/** Queues runs of these accounts in turn. */
export async function addRuns(
  db: Database,
  accounts: readonly Account[],
  count: number,
): Promise<void> {
  const runs = Array.from({ length: count }, (_, index) => {
    const account = accounts[index % accounts.length] as Account
    return { ...account, id: Bun.randomUUIDv7(), version: 1, source: "api" as const, args: [index] }
  })
  for (let from = 0; from < count; from += addedAtOnce) {
    const batch: readonly NewQueuedRun[] = runs.slice(from, from + addedAtOnce)
    await db.write(() => enqueueRuns(db.dialect, batch))
  }
}

/**
 * A node that works on the queue. Everything is that of a server, except that no code runs: the
 * runner returns at once. That a run starts is on disk before, as in production.
 */
export async function createQueueNode(db: Database, runsMax: number, on: RunWatch) {
  const fail = (error: unknown) => {
    console.error(error)
    process.exit(1)
  }
  const nodeId = Bun.randomUUIDv7()
  const nodes = createNodeStore(db)
  await nodes.add({ id: nodeId, host: "bench", pid: 1, pidStarted: "" }, 3_600_000)
  const runs = createRunStore(db)
  const liveRuns = new LiveRuns(runs, nodeId, { now: Date.now }, fail)
  const queue = createQueueStore(db)
  const worker = new QueueWorker(
    nodeId,
    queue,
    createClaimedRuns({
      stores: { vals: createValStore(db), versions: createVersionStore(db), queue },
      startedFiles: { getById: () => Promise.reject(new Error("No file is started")) },
      liveRuns,
      runner: createIdleRunner(on),
      programs: {
        of: async (val, accountId) => ({
          key: val.id,
          group: val.id,
          line: val.id,
          version: 1,
          isHttp: false,
          accountId,
          label: "",
          entryUrl: "",
          endpoint: "",
          readFile: async () => null,
          isMeant: () => true,
          load: () => Promise.reject(new Error("No code is loaded")),
        }),
        ofUnsaved: () => Promise.reject(new Error("No code is unsaved")),
      },
      responses: new ResponseKeeper({ ...responseLimits, bodyBytesMax: 0 }, Date.now),
      mailInputs: { read: () => Promise.reject(new Error("no mail is stored")) },
      allowances: { hasRun: () => true, countRun() {} },
      begunRuns: createBegunRuns(nodes, nodeId),
      delayOf: () => 0,
    }),
    liveRuns,
    { ...queueWorkerLimits, runsMax, runsPerAccountMax: Math.ceil(runsMax / 4) },
    { notify() {}, listen: () => () => {} },
    fail,
  )
  return {
    start: () => worker.start(),
    wake: () => worker.wake(),
    /** Resolves when the ends of all runs are on disk and the node has left, as a server does. */
    async stop() {
      await worker.stop()
      await liveRuns.stop()
      await nodes.end(nodeId)
    },
  }
}
