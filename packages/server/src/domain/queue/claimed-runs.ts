import { setImmediate } from "node:timers/promises"
import { errorCodes } from "@hamlet/contract"
import { Loop, Work } from "@hamlet/kit"
import { cancelledError, type Runner, type RunSlot } from "@hamlet/sandbox"
import { asOwner, canSee } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Fenced } from "../claims.ts"
import type { StartedFiles } from "../files/started-files.ts"
import type { Allowances } from "../limits/allowances.ts"
import type { MailInputs } from "../mail/inbound/receive-mail.ts"
import type { Programs } from "../modules/programs.ts"
import type { NodeStore } from "../nodes.ts"
import type { ResponseKeeper } from "../runs/contents/response-keeper.ts"
import { callWith, type RunWork } from "../runs/execute-run.ts"
import type { LiveRun, RunEnd } from "../runs/live-run.ts"
import type { LiveRuns } from "../runs/live-runs.ts"
import { sendRequest } from "../runs/replay/replay-run.ts"
import { readCallArgs } from "../runs/run-arguments.ts"
import { isRequestInput, type RunError } from "../runs/runs.ts"
import type { Val, ValStore } from "../vals/vals.ts"
import type { VersionStore } from "../vals/versions.ts"
import type { ClaimedRun, QueueStore } from "./queue-store.ts"

/**
 * How it went with a claimed run: it is over, or it is over but not recorded yet, or this node must
 * return it to the queue, because it could not start it or the account has used up its runs for this
 * minute.
 */
export type ClaimedOutcome = "over" | "unrecorded" | "not_started" | "over_limit"

/** Runs the runs that this node has claimed. */
export type ClaimedRuns = ReturnType<typeof createClaimedRuns>

interface ClaimedRunsParts {
  readonly stores: {
    readonly vals: Pick<ValStore, "findById">
    readonly versions: Pick<VersionStore, "find">
    readonly queue: Pick<QueueStore, "drop">
  }
  readonly startedFiles: Pick<StartedFiles, "getById">
  readonly liveRuns: LiveRuns
  readonly runner: Runner
  readonly programs: Programs
  readonly responses: ResponseKeeper
  readonly mailInputs: MailInputs
  readonly allowances: Pick<Allowances, "hasRun" | "countRun">
  readonly begunRuns: BegunRuns
  readonly delayOf: (attempt: number) => number
}

/** Creates the rules of claimed runs. `delayOf` is the delay after a failed attempt. */
export function createClaimedRuns({
  stores,
  startedFiles,
  liveRuns,
  runner,
  programs,
  responses,
  mailInputs,
  allowances,
  begunRuns,
  delayOf,
}: ClaimedRunsParts) {
  const adopt = (run: ClaimedRun, val: Val | undefined, isCounted: boolean) =>
    liveRuns.adopt({
      ...run,
      file: val?.file ?? null,
      version: val?.version ?? run.version,
      startedAt: run.queuedAt,
      work: new Work(),
      delayOf,
      noteBegin() {
        if (!isCounted) allowances.countRun(run.accountId)
        return begunRuns.note(run)
      },
    })
  const toWork = async ({ input, request, args }: ClaimedRun): Promise<RunWork<unknown>> =>
    request && input && isRequestInput(input)
      ? sendRequest(responses, request.method, request.url, input)
      : callWith(await readCallArgs(mailInputs, input, args))
  const execute = async (
    live: LiveRun,
    run: ClaimedRun,
    val: Val,
    onCodeEnd: () => void,
    onError: (error: unknown) => void,
  ) => {
    let work: RunWork<unknown>
    let slot: RunSlot
    try {
      work = await toWork(run)
      slot = await runner.acquire(await programs.of(val, run.accountId), live, live)
    } catch (error) {
      if (live.status === "queued" && !live.isCancelled && isTemporary(error)) return "not_started"
      return end(begunRuns, live, error, onError)
    }
    let settled: Promise<ClaimedOutcome>
    try {
      const { end: outcome } = await work(slot, live)
      live.finish(outcome)
      settled = settle(begunRuns, live)
    } catch (error) {
      settled = end(begunRuns, live, error, onError)
    }
    slot.release()
    onCodeEnd()
    return settled
  }
  return {
    /**
     * Runs a claimed run until its end is on disk. Calls `onCodeEnd` before that, when its code has
     * ended. Rejects when the database fails before it has started; an error of this server in a run
     * that has started is reported, and the run has crashed. `isLost` tells whether the run was taken
     * from this node since; once it is live, it is forgotten instead.
     */
    async run(
      run: ClaimedRun,
      onCodeEnd: () => void,
      isLost: () => boolean,
      onError: (error: unknown) => void,
    ): Promise<ClaimedOutcome> {
      const found = await findVal(stores, startedFiles, run)
      if (found === undefined) {
        await stores.queue.drop(run)
        return "over"
      }
      const { val, refusal } = found
      // Other runs were counted when they were queued, and the caller was refused.
      const isCounted = run.source !== "interval"
      if (!isCounted && !run.isToBeCancelled && !(await allowances.hasRun(run.accountId)))
        return "over_limit"
      if (isLost()) return "over"
      const live = adopt(run, val, isCounted)
      if (run.isToBeCancelled) live.cancel()
      if (!live.isCancelled && val !== undefined && refusal === undefined)
        return execute(live, run, val, onCodeEnd, onError)
      live.finish(
        live.isCancelled
          ? cancelledEnd
          : { status: "failed", error: refusal ?? deleted(run), isFinal: true },
      )
      return settle(begunRuns, live)
    },
    /** The end of a run that was over is on disk by now. */
    forget: (id: string) => begunRuns.forget(id),
  }
}

/** The val at the version to run. Undefined when the val is gone, so that its runs go too. */
async function findVal(
  stores: {
    readonly vals: Pick<ValStore, "findById">
    readonly versions: Pick<VersionStore, "find">
  },
  startedFiles: Pick<StartedFiles, "getById">,
  run: ClaimedRun,
): Promise<{ readonly val?: Val; readonly refusal?: RunError } | undefined> {
  const current = await stores.vals.findById(run.valId)
  if (current === undefined) return undefined
  // The user may no longer see the val, or may no longer run anything.
  if (!canSee(current, asOwner(run.accountId))) return { refusal: hidden }
  if (run.isAccountSuspended || current.isOwnerSuspended) return { refusal: suspended }
  const { startedFile: file } = run
  if (file !== null && file.id !== current.file.id)
    return startedFiles
      .getById(current, file, run.followsCurrent ? undefined : run.version)
      .then((val) => ({ val }), toRefusal)
  if (run.followsCurrent || run.version === current.version) return { val: current }
  const val = await stores.versions.find(run.valId, run.version)
  return val ? { val } : { refusal: deleted(run) }
}

/** What was there when the run was queued may have been deleted. */
function toRefusal(error: unknown): { readonly refusal: RunError } {
  if (!(error instanceof AppError)) throw error
  return { refusal: { name: error.code, message: error.message } }
}

const cancelledEnd: RunEnd = { status: "cancelled", error: cancelledError }
const hidden = { name: "val_not_found", message: "The val was made private before the run started" }
const suspended = {
  name: "user_suspended",
  message: "The account was suspended before the run started",
}

function deleted({ version }: ClaimedRun): RunError {
  return {
    name: "version_not_found",
    message: `Version ${version} of the val was deleted before the run started`,
  }
}

/** Whether another node, or this one a little later, could run it. */
function isTemporary(error: unknown): boolean {
  if (!(error instanceof AppError)) return false
  const row = errorCodes[error.code]
  return "isRetryable" in row && row.isRetryable
}

/** Never rejects: the run would be returned to the queue, and its record forgotten. */
async function end(
  begun: BegunRuns,
  live: LiveRun,
  error: unknown,
  onError: (error: unknown) => void,
): Promise<ClaimedOutcome> {
  if (!live.isLost) live.finish(toEnd(live, error))
  const outcome = await settle(begun, live)
  if (!(live.isLost || live.isCancelled || error instanceof AppError)) onError(error)
  return outcome
}

function toEnd({ isCancelled }: LiveRun, error: unknown): RunEnd {
  if (isCancelled) return cancelledEnd
  if (error instanceof AppError)
    return { status: "failed", error: { name: error.code, message: error.message } }
  return {
    status: "crashed",
    error: { name: "internal", message: "The server had an internal error" },
  }
}

/**
 * Waits until its end is on disk. If the database is away, the recorder writes it later: until then
 * the run counts as started.
 */
async function settle(begun: BegunRuns, live: LiveRun): Promise<ClaimedOutcome> {
  try {
    await live.settled()
  } catch {
    // The recorder reports it.
    if (!live.isLost) return "unrecorded"
  }
  begun.forget(live.id)
  return "over"
}

/** The delay before the next attempt when the database is unavailable. */
const retryMs = 500

/** Records which claimed runs have started. */
export type BegunRuns = ReturnType<typeof createBegunRuns>

/**
 * Writes the list of started runs of this node. Runs that start while it is being written share the
 * next write. Runs that have ended leave the list with the next write: their rows say that they have
 * ended.
 */
export function createBegunRuns(nodes: Pick<NodeStore, "saveBegun">, nodeId: string) {
  const fences = new Map<string, number>()
  const waiting: PromiseWithResolvers<void>[] = []
  const loop = new Loop({
    async round() {
      // In the next turn of the event loop, together with other runs.
      await setImmediate()
      const count = waiting.length
      if (count === 0) return
      // If it fails, whether it was written is unknown, so the runs go on waiting.
      const isSaved = await nodes.saveBegun(nodeId, fences)
      for (const { resolve, reject } of waiting.splice(0, count))
        if (isSaved) resolve()
        else reject(new Error("This node is gone: its runs were taken from it"))
    },
    failedMs: retryMs,
    // Other code reports the outage.
    onError() {},
  })
  return {
    /** Resolves when it is on disk. Rejects when this node is gone: the run must not start. */
    note({ id, fence }: Fenced): Promise<void> {
      fences.set(id, fence)
      const noted = Promise.withResolvers<void>()
      waiting.push(noted)
      loop.wake()
      return noted.promise
    },
    /** The run has ended, and that is on disk. */
    forget: (id: string) => void fences.delete(id),
  }
}
