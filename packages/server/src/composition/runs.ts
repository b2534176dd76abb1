import type { Allowances } from "../domain/limits/allowances.ts"
import { createPrograms, type ProgramDeps } from "../domain/modules/programs.ts"
import { toRetryDelay } from "../domain/queue/backoff.ts"
import { createBegunRuns } from "../domain/queue/begun-runs.ts"
import { createQueueRoom } from "../domain/queue/run-queue.ts"
import { ResponseKeeper, responseLimits } from "../domain/runs/contents/response-keeper.ts"
import { RunFollowers } from "../domain/runs/follow/follow-run.ts"
import { LiveRuns } from "../domain/runs/live-runs.ts"
import type { ArgumentDeps } from "../domain/runs/run-arguments.ts"
import type { Runner } from "../domain/runs/runner.ts"
import type { ValStore } from "../domain/vals/vals.ts"
import type { VersionStore } from "../domain/vals/versions.ts"
import { QueueWorker, queueWorkerLimits } from "../jobs/queue-worker.ts"
import { createNodeStore } from "../storage/nodes.ts"
import { createQueueStore } from "../storage/queue/queue.ts"
import { createRunStore } from "../storage/runs/runs.ts"
import { createStatStore } from "../storage/runs/stats.ts"
import type { Foundation } from "./foundation.ts"

/** The channel on which nodes tell each other that runs wait. */
const queueChannel = "hamlet_queue"

/** Runs: what they are made of, those that wait or go on, and the records of those that have ended. */
export function createRuns(
  foundation: Foundation,
  deps: Omit<ProgramDeps, keyof Foundation> & {
    readonly allowances: Allowances
    readonly vals: ValStore
    readonly versions: VersionStore
    readonly mailInputs: ArgumentDeps["mailInputs"]
  },
  runner: Runner,
) {
  const { config, db } = foundation
  const runs = createRunStore(db)
  const liveRuns = new LiveRuns({ ...foundation, runs })
  const programs = createPrograms({ ...foundation, ...deps })
  const queueStore = createQueueStore(db)
  const responses = new ResponseKeeper(
    { ...responseLimits, bodyBytesMax: config.runs.responseBytesKept },
    foundation.now,
  )
  const nodes = createNodeStore(db)
  const begunRuns = createBegunRuns({ nodes, nodeId: foundation.nodeId, retryMs: 500 })
  const queue = new QueueWorker({
    ...{
      ...foundation,
      ...deps,
      runs,
      liveRuns,
      runner,
      programs,
      queueStore,
      begunRuns,
      responses,
    },
    limits: {
      ...queueWorkerLimits,
      runsMax: config.runs.queueRunsMax,
      // A quarter for each account, so that long runs of one leave room for others.
      runsPerAccountMax: Math.max(1, Math.ceil(config.runs.queueRunsMax / 4)),
    },
    delayOf: toRetryDelay,
    notify: () => db.notify(queueChannel),
    listen: (onNotice) => db.listen(queueChannel, onNotice),
  })
  return {
    runs,
    liveRuns,
    runner,
    queueStore,
    queue,
    queueRoom: createQueueRoom({
      queueStore,
      queuedMax: config.runs.queuedPerAccountMax,
      now: foundation.now,
    }),
    stats: createStatStore(db),
    followers: new RunFollowers({ ...foundation, ...deps, runs, liveRuns }),
    programs,
    responses,
  }
}
