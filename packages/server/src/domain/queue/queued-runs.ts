import type { CallArgs } from "@hamlet/sandbox"
import type { Caller } from "../access/caller.ts"
import { accountOf, valNotFound } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import { assertDepth } from "../egress.ts"
import type { StartedPlace } from "../files/started-files.ts"
import type { Allowances } from "../limits/allowances.ts"
import type { Calls } from "../runs/calls.ts"
import { assertRunnable } from "../runs/execute-run.ts"
import type { ReplayChanges } from "../runs/replay/replay-changes.ts"
import type { Replays } from "../runs/replay/replay-run.ts"
import { toRecordedInterval, toStoredArgs } from "../runs/run-arguments.ts"
import type { RunDetail, Runs } from "../runs/runs.ts"
import type { Val } from "../vals/vals.ts"
import type { NewQueuedRun, QueueStore } from "./queue-store.ts"
import { type QueueRoom, type RunQueue, takeQueuedRun } from "./run-queue.ts"

/** A call for the queue. */
export interface EnqueueInput extends StartedPlace {
  readonly args: CallArgs
  readonly retries: number
}

/** Adds runs to the queue. */
export type QueuedRuns = ReturnType<typeof createQueuedRuns>

interface QueuedRunsParts {
  readonly store: Pick<QueueStore, "enqueue">
  readonly queue: RunQueue
  readonly room: QueueRoom
  readonly calls: Calls
  readonly replays: Replays
  readonly runs: Runs
  readonly allowances: Allowances
  readonly clock: Pick<Clock, "newId">
}

/** Creates the rules of adding runs to the queue. */
export function createQueuedRuns({
  store,
  queue,
  room,
  calls,
  replays,
  runs,
  allowances,
  clock: { newId },
}: QueuedRunsParts) {
  const enqueue = async (
    caller: Caller,
    val: Val,
    about: Pick<NewQueuedRun, "args" | "input" | "request" | "parentId" | "retries">,
  ): Promise<RunDetail> => {
    assertRunnable(val)
    const depth = caller.depth ?? 0
    assertDepth(depth)
    const accountId = accountOf(val, caller)
    await takeQueuedRun(allowances, room, accountId)
    const id = await store.enqueue({
      ...about,
      id: newId(),
      valId: val.id,
      file: val.file,
      version: val.version,
      accountId,
      source: caller.isInBrowser ? "ui" : "api",
      depth,
    })
    // The val was deleted meanwhile.
    if (id === null) throw valNotFound(val.id)
    queue.wake()
    return runs.get(caller, id)
  }
  return {
    /** Queues a run of a val that the caller may see, on the caller's account. */
    async add(caller: Caller, valId: string, { args, retries, ...place }: EnqueueInput) {
      const val = await calls.findVal(caller, valId, place)
      const input = await calls.findTrialInput(val, args)
      const queued = input ? { args: toRecordedInterval(input), input } : toStoredArgs(args)
      return enqueue(caller, val, { ...queued, retries })
    },
    /** Queues a replay of a run that the caller may see. */
    async addReplay(caller: Caller, runId: string, changes: ReplayChanges = {}) {
      const replay = await replays.prepare(caller, runId, changes)
      const { val, args, given, input, request, credentials } = replay
      // The queue would have to store them.
      if (credentials.length > 0)
        throw new AppError(
          "invalid_request",
          `Cannot queue the replay: the header "${credentials[0]?.[0]}" is a credential, which is not stored; leave out "prefer: respond-async"`,
        )
      return enqueue(caller, val, {
        ...(given ? toStoredArgs(given) : { args, input }),
        request,
        parentId: runId,
      })
    },
  }
}
