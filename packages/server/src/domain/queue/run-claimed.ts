import { errorCodes } from "@hamlet/contract"
import { AppError } from "../app-error.ts"
import type { Allowances } from "../limits/allowances.ts"
import { callWith, type ExecuteDeps, type RunWork } from "../runs/execute-run.ts"
import type { LiveRun, RunEnd } from "../runs/live-run.ts"
import { sendRequest } from "../runs/replay/replay-run.ts"
import { readCallArgs } from "../runs/run-arguments.ts"
import type { RunSlot } from "../runs/runner.ts"
import { isRequestInput, type RunError } from "../runs/runs.ts"
import { canSee, type Val } from "../vals/vals.ts"
import type { Fenced, QueueStore } from "./queue-store.ts"
import type { ClaimedRun } from "./queued-run.ts"

/** What running claimed runs needs. */
export interface RunClaimedDeps extends Omit<ExecuteDeps, "allowances"> {
  readonly queueStore: Pick<QueueStore, "drop">
  readonly allowances: Pick<Allowances, "hasRun" | "countRun">
  readonly begunRuns: BegunRuns
  /** The delay after a failed attempt. */
  delayOf(attempt: number): number
}

/** Records which claimed runs have started. */
export interface BegunRuns {
  /** Resolves when it is on disk. Rejects when this node is gone: the run must not start. */
  note(run: Fenced): Promise<void>
  /** The run has ended, and that is on disk. */
  forget(id: string): void
}

/**
 * How it went with a claimed run: it is over, or it is over but not recorded yet, or this node must
 * return it to the queue, because it could not start it or the account has used up its runs for this
 * minute.
 */
export type ClaimedOutcome = "over" | "unrecorded" | "not_started" | "over_limit"

/**
 * Runs a claimed run until its end is on disk. Calls `onCodeEnd` before that, when its code has ended.
 * Rejects when the database fails before it has started.
 */
export async function runClaimed(
  deps: RunClaimedDeps,
  run: ClaimedRun,
  onCodeEnd: () => void,
): Promise<ClaimedOutcome> {
  const found = await findVal(deps, run)
  if (found === undefined) {
    await deps.queueStore.drop(run)
    return "over"
  }
  const { val, refusal } = found
  // Other runs were counted when they were queued, and the caller was refused.
  const isCounted = run.source !== "interval"
  if (!isCounted && !deps.allowances.hasRun(run.accountId)) return "over_limit"
  const live = deps.liveRuns.adopt({
    ...run,
    version: val?.version ?? run.version,
    startedAt: run.queuedAt,
    delayOf: deps.delayOf,
    noteBegin() {
      if (!isCounted) deps.allowances.countRun(run.accountId)
      return deps.begunRuns.note(run)
    },
  })
  if (refusal !== undefined || val === undefined) {
    live.finish({ status: "failed", error: refusal ?? deleted(run), isFinal: true })
    return settle(deps, live)
  }
  return execute(deps, live, run, val, onCodeEnd)
}

/** The val at the version to run. Undefined when the val is gone, so that its runs go too. */
async function findVal(
  deps: RunClaimedDeps,
  run: ClaimedRun,
): Promise<{ readonly val?: Val; readonly refusal?: RunError } | undefined> {
  const current = await deps.vals.findById(run.valId)
  if (current === undefined) return undefined
  // The user may no longer see the val, or may no longer run anything.
  if (!canSee(current, { userId: run.accountId })) return { refusal: hidden }
  if (run.isAccountSuspended || current.isOwnerSuspended) return { refusal: suspended }
  if (run.followsCurrent || run.version === current.version) return { val: current }
  const val = await deps.versions.find(run.valId, run.version)
  return val ? { val } : { refusal: deleted(run) }
}

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

async function execute(
  deps: RunClaimedDeps,
  live: LiveRun,
  run: ClaimedRun,
  val: Val,
  onCodeEnd: () => void,
): Promise<ClaimedOutcome> {
  let work: RunWork<unknown>
  let slot: RunSlot
  try {
    work = await toWork(deps, run)
    const program = await deps.programs.of(val, run.accountId)
    slot = await deps.runner.acquire(program, live, live)
  } catch (error) {
    if (live.status === "queued" && !live.isCancelled && isTemporary(error)) return "not_started"
    return end(deps, live, error)
  }
  let settled: Promise<ClaimedOutcome>
  try {
    const { end: outcome } = await work(slot, live)
    live.finish(outcome)
    settled = settle(deps, live)
  } catch (error) {
    settled = end(deps, live, error)
  }
  slot.release()
  onCodeEnd()
  return settled
}

async function toWork(
  deps: RunClaimedDeps,
  { input, request, args }: ClaimedRun,
): Promise<RunWork<unknown>> {
  return request && input && isRequestInput(input)
    ? sendRequest(deps.responses, request.method, request.url, input)
    : callWith(await readCallArgs(deps, input, args))
}

/** Whether another node, or this one a little later, could run it. */
function isTemporary(error: unknown): boolean {
  if (!(error instanceof AppError)) return false
  const row = errorCodes[error.code]
  return "isRetryable" in row && row.isRetryable
}

async function end(deps: RunClaimedDeps, live: LiveRun, error: unknown): Promise<ClaimedOutcome> {
  if (!live.isLost) live.finish(toEnd(live, error))
  const outcome = await settle(deps, live)
  if (live.isLost || live.isCancelled || error instanceof AppError) return outcome
  throw error
}

function toEnd({ isCancelled }: LiveRun, error: unknown): RunEnd {
  if (isCancelled)
    return {
      status: "cancelled",
      error: { name: "Cancelled", message: "The run was cancelled" },
    }
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
async function settle(deps: RunClaimedDeps, live: LiveRun): Promise<ClaimedOutcome> {
  try {
    await live.settled()
    deps.begunRuns.forget(live.id)
    return "over"
  } catch {
    // The recorder reports it.
    return live.isLost ? "over" : "unrecorded"
  }
}
