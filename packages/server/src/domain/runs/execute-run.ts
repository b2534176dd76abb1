import { limits } from "@hamlet/contract"
import { isJsonText } from "../../shared/json-text.ts"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import { assertDepth } from "../egress.ts"
import type { Allowances } from "../limits/allowances.ts"
import type { Programs } from "../modules/programs.ts"
import { getVal, getValByName, type Val } from "../vals/vals.ts"
import { getVersion, type VersionDeps } from "../vals/versions.ts"
import type { ResponseKeeper } from "./contents/response-keeper.ts"
import type { LiveRun, LiveRuns, NewRun, RunEnd } from "./live-runs.ts"
import {
  type ArgumentDeps,
  findTrialInput,
  readCallArgs,
  toRecordedInterval,
} from "./run-arguments.ts"
import type { CallArgs, MailCall, Program, Returned, Runner, RunSlot, Stopped } from "./runner.ts"
import { getRun, type RunDeps, type RunDetail, type RunError } from "./runs.ts"
import { truncateText } from "./truncate.ts"

/** What running vals needs. */
export interface ExecuteDeps extends RunDeps, VersionDeps, ArgumentDeps {
  readonly liveRuns: LiveRuns
  readonly runner: Runner
  readonly programs: Programs
  readonly responses: ResponseKeeper
  readonly allowances: Pick<Allowances, "takeRun">
  newId(): string
}

/** A run that has started and is on disk. */
export interface StartedRun<Result> {
  readonly id: string
  /** Resolves when the end of the run is on disk. Rejects when the runner refused the run. */
  readonly ended: Promise<Result>
}

/** The arguments of a run, and which version to run. */
export interface CreateRunInput {
  readonly args: CallArgs
  /** Undefined: the current version. */
  readonly version: number | undefined
}

/**
 * Runs a val that the caller may see, on the caller's account. The val gets secrets only if the
 * caller owns it.
 */
export async function createRun(
  deps: ExecuteDeps,
  caller: Caller,
  valId: string,
  { args, version }: CreateRunInput,
): Promise<StartedRun<unknown>> {
  return startCall(deps, caller, await findRunVal(deps, caller, valId, version), args)
}

/** The val that the caller wants to run, at its current version or at the given one. */
export function findRunVal(
  deps: ExecuteDeps,
  caller: Caller,
  valId: string,
  version: number | undefined,
): Promise<Val> {
  return version === undefined
    ? getVal(deps, caller, valId)
    : getVersion(deps, caller, valId, version)
}

/** Calls a val by its name and returns its result as JSON. */
export async function callVal(
  deps: ExecuteDeps,
  caller: Caller,
  username: string,
  name: string,
  args: CallArgs,
): Promise<Returned["json"]> {
  const val = await getValByName(deps, caller, username, name)
  return getReturned(await startCall(deps, caller, val, args), val, caller)
}

/** Returns the result of a call. Throws a RunFailure if the val failed. */
export async function getReturned(
  { id, ended }: StartedRun<Returned | Stopped>,
  val: Pick<Val, "ownerId" | "ownerName" | "name">,
  caller: Caller | undefined,
): Promise<Returned["json"]> {
  const outcome = await ended
  const label = `${val.ownerName}/${val.name}`
  if (outcome.kind === "stopped")
    throw toRunFailure(outcome, id, label, val.ownerId === caller?.userId)
  // A truncated value would be a wrong result.
  if (outcome.isTruncated)
    throw new RunFailure(
      "run_failed",
      `Cannot run val "${label}": its return value is too large`,
      id,
      undefined,
    )
  return outcome.json
}

/** The error for the caller of a val that did not return: the val's failure, not the server's. */
export class RunFailure extends AppError {
  constructor(
    code: "run_failed" | "run_timed_out",
    message: string,
    readonly runId: string,
    /** The error that the val threw. Set for the owner of the val only. */
    readonly runError: RunError | undefined,
  ) {
    super(code, message)
  }
}

function toRunFailure(
  stopped: Stopped,
  runId: string,
  label: string,
  isOwner: boolean,
): RunFailure {
  const { status, error } = stopped
  const code = status === "timed_out" ? "run_timed_out" : "run_failed"
  return new RunFailure(
    code,
    `Cannot run val "${label}": ${error.message}`,
    runId,
    isOwner ? error : undefined,
  )
}

/** The run as its caller sees it. */
export function getStartedRun(
  deps: ExecuteDeps,
  caller: Caller,
  started: StartedRun<unknown>,
): Promise<RunDetail> {
  return getRun(deps, caller, started.id)
}

/** Starts a call. */
async function startCall(
  deps: ExecuteDeps,
  caller: Caller,
  val: Val,
  args: CallArgs,
): Promise<StartedRun<Returned | Stopped>> {
  const input = findTrialInput(val, args, deps.now())
  const recorded = input ? toRecordedInterval(input) : toRecordedArgs(args)
  const about = { args: recorded, parentId: null, request: null, input: input ?? null }
  const called = input ? await readCallArgs(deps, input, recorded) : args
  return startRun<Returned | Stopped>(deps, caller, val, about, callWith(called))
}

/** Calls the val in the slot. */
export function callWith(args: CallArgs | MailCall): RunWork<Returned | Stopped> {
  return async (slot) => {
    const result = await slot.call(args)
    if (result.kind === "stopped")
      return { result, end: { status: result.status, error: result.error } }
    return { result, end: { status: "succeeded", error: null, returnValue: result.kept } }
  }
}

/** The arguments as the run records them: a truncated JSON text if they are too large. */
export function toRecordedArgs(args: CallArgs): unknown {
  if (!isJsonText(args)) return "typed" in args ? args.typed : args
  const { json } = args
  return Buffer.byteLength(json) <= limits.runValueBytesMax
    ? JSON.parse(json)
    : truncateText(json, limits.runValueBytesMax)
}

/** Uses the slot, and returns the result and how the run ended. */
export type RunWork<Result> = (
  slot: RunSlot,
  live: LiveRun,
) => Promise<{ readonly result: Result; readonly end: RunEnd }>

/** Records the run, then starts it. */
export async function startRun<Result>(
  deps: ExecuteDeps,
  caller: Caller,
  val: Val,
  about: Pick<NewRun, "args" | "parentId" | "request" | "input">,
  work: RunWork<Result>,
): Promise<StartedRun<Result | Stopped>> {
  assertRunnable(val)
  return startProgram(deps, caller, val, () => deps.programs.of(val, caller.userId), about, work)
}

/** As `startRun`, for any program. `makeProgram` is called after the limits were checked. */
export async function startProgram<Result>(
  deps: ExecuteDeps,
  caller: Pick<Caller, "userId" | "depth" | "isInBrowser">,
  val: Pick<Val, "id" | "version" | "ownerId">,
  makeProgram: () => Promise<Program>,
  about: Pick<NewRun, "args" | "parentId" | "request" | "input">,
  work: RunWork<Result>,
): Promise<StartedRun<Result | Stopped>> {
  const depth = caller.depth ?? 0
  assertDepth(depth)
  deps.allowances.takeRun(caller.userId)
  const program = await makeProgram()
  const live = await deps.liveRuns.begin({
    ...about,
    id: deps.newId(),
    valId: val.id,
    version: val.version,
    accountId: caller.userId,
    ownerId: val.ownerId,
    source: caller.isInBrowser ? "ui" : "api",
    depth,
    startedAt: deps.now(),
  })
  return { id: live.id, ended: execute(deps, program, live, work) }
}

/** Throws if the owner of the val is suspended. */
export function assertRunnable(val: Val): void {
  if (val.isOwnerSuspended)
    throw new AppError(
      "user_suspended",
      `Cannot run val "${val.name}": the account of its owner is suspended`,
    )
}

async function execute<Result>(
  deps: ExecuteDeps,
  program: Program,
  live: LiveRun,
  work: RunWork<Result>,
): Promise<Result | Stopped> {
  try {
    const slot = await deps.runner.acquire(program, live, live)
    live.attach(slot)
    try {
      const { result, end } = await work(slot, live)
      live.finish(end)
      return result
    } finally {
      slot.release()
    }
  } catch (error) {
    const stopped = toStopped(live, error)
    live.finish({ status: stopped.status, error: stopped.error })
    // A run that was cancelled before it got a slot is an outcome, not an error.
    if (live.isCancelled) return stopped
    throw error
  } finally {
    await live.settled()
  }
}

function toStopped(live: LiveRun, error: unknown): Stopped {
  if (live.isCancelled)
    return {
      kind: "stopped",
      status: "cancelled",
      error: { name: "Cancelled", message: "The run was cancelled" },
    }
  if (error instanceof AppError)
    return {
      kind: "stopped",
      status: "failed",
      error: { name: error.code, message: error.message },
    }
  return {
    kind: "stopped",
    status: "crashed",
    error: { name: "internal", message: "The server had an internal error" },
  }
}
