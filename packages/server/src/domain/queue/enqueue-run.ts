import { limits } from "@hamlet/contract"
import { isJsonText } from "../../shared/json-text.ts"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import { assertDepth } from "../egress.ts"
import { assertRunnable, type ExecuteDeps, findRunVal } from "../runs/execute-run.ts"
import type { ReplayChanges } from "../runs/replay/replay-changes.ts"
import { prepareReplay } from "../runs/replay/replay-run.ts"
import { findTrialInput, toRecordedInterval } from "../runs/run-arguments.ts"
import type { CallArgs } from "../runs/runner.ts"
import { getRun, type LargeArgs, type RunDetail } from "../runs/runs.ts"
import { type Val, valNotFound } from "../vals/vals.ts"
import type { QueueStore } from "./queue-store.ts"
import type { NewQueuedRun } from "./queued-run.ts"
import type { QueueRoom, RunQueue } from "./run-queue.ts"

/** What adding runs to the queue needs. */
export interface EnqueueDeps extends ExecuteDeps {
  readonly queueStore: Pick<QueueStore, "enqueue">
  readonly queue: RunQueue
  readonly queueRoom: QueueRoom
}

/** A call for the queue. */
export interface EnqueueInput {
  readonly args: CallArgs
  /** Undefined: the current version. */
  readonly version: number | undefined
  readonly retries: number
}

/** Queues a run of a val that the caller may see, on the caller's account. */
export async function enqueueRun(
  deps: EnqueueDeps,
  caller: Caller,
  valId: string,
  { args, version, retries }: EnqueueInput,
): Promise<RunDetail> {
  const val = await findRunVal(deps, caller, valId, version)
  const input = findTrialInput(val, args, deps.now())
  const queued = input ? { args: toRecordedInterval(input), input } : toQueuedArgs(args)
  return enqueue(deps, caller, val, { ...queued, retries })
}

/** Queues a replay of a run that the caller may see. */
export async function enqueueReplay(
  deps: EnqueueDeps,
  caller: Caller,
  runId: string,
  changes: ReplayChanges = {},
): Promise<RunDetail> {
  const replay = await prepareReplay(deps, caller, runId, changes)
  const { val, args, input, request, credentials } = replay
  // The queue would have to store them.
  if (credentials.length > 0)
    throw new AppError(
      "invalid_request",
      `Cannot queue the replay: the header "${credentials[0]?.[0]}" is a credential, which is not stored; leave out "prefer: respond-async"`,
    )
  return enqueue(deps, caller, val, { args, input, request, parentId: runId })
}

async function enqueue(
  deps: EnqueueDeps,
  caller: Caller,
  val: Val,
  about: Pick<NewQueuedRun, "args" | "input" | "request" | "parentId" | "retries">,
): Promise<RunDetail> {
  assertRunnable(val)
  const depth = caller.depth ?? 0
  assertDepth(depth)
  deps.allowances.takeRun(caller.userId)
  await deps.queueRoom.take(caller.userId)
  const id = await deps.queueStore.enqueue({
    ...about,
    id: deps.newId(),
    valId: val.id,
    version: val.version,
    accountId: caller.userId,
    source: caller.isInBrowser ? "ui" : "api",
    depth,
  })
  // It was deleted meanwhile.
  if (id === null) throw valNotFound(val.id)
  deps.queue.wake()
  return getRun(deps, caller, id)
}

/** Arguments that are too large to be recorded are stored beside the record. */
function toQueuedArgs(args: CallArgs): Pick<NewQueuedRun, "args"> & { input: LargeArgs | null } {
  const json = isJsonText(args) ? args.json : JSON.stringify(args)
  return Buffer.byteLength(json) <= limits.runValueBytesMax
    ? { args: JSON.parse(json), input: null }
    : { args: json, input: { kind: "args", json } }
}
