import { limits } from "@hamlet/contract"
import { isJsonText, parseJson, truncateText } from "@hamlet/kit"
import {
  type CallArgs,
  cancelledError,
  type MailCall,
  type Program,
  type Returned,
  type Runner,
  type RunSlot,
  type Stopped,
} from "@hamlet/sandbox"
import type { Caller } from "../access/caller.ts"
import { accountOf, rightsOn, type ValAccess } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import { assertDepth } from "../egress.ts"
import type { Allowances } from "../limits/allowances.ts"
import type { Programs } from "../modules/programs.ts"
import type { Val } from "../vals/vals.ts"
import type { LiveRun, LiveRuns, NewRun, RunEnd } from "./live-runs.ts"
import type { RunError } from "./runs.ts"

/** A run that has started and is on disk. */
export interface StartedRun<Result> {
  readonly id: string
  /** Resolves when the end of the run is on disk. Rejects when the runner refused the run. */
  readonly ended: Promise<Result>
}

/** Uses the slot, and returns the result and how the run ended. */
export type RunWork<Result> = (
  slot: RunSlot,
  live: LiveRun,
) => Promise<{ readonly result: Result; readonly end: RunEnd }>

/** What a new run records of its start. */
export type RunStart = Pick<NewRun, "args" | "parentId" | "request" | "input">

/** Starts runs whose callers wait for them. */
export type RunStarter = ReturnType<typeof createRunStarter>

/** Creates the starter of runs. */
export function createRunStarter(
  liveRuns: LiveRuns,
  runner: Runner,
  programs: Programs,
  allowances: Allowances,
  { newId, now }: Clock,
) {
  const execute = async <Result>(
    program: Program,
    live: LiveRun,
    work: RunWork<Result>,
  ): Promise<Result | Stopped> => {
    try {
      const slot = await runner.acquire(program, live, live)
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
  /** Starts a run of any program. `makeProgram` is called after the limits were checked. */
  const startProgram = async <Result>(
    caller: Pick<Caller, "depth" | "isInBrowser">,
    accountId: string,
    val: Pick<Val, "id" | "version" | "ownerId"> & Partial<Pick<Val, "file">>,
    makeProgram: () => Promise<Program>,
    about: RunStart,
    work: RunWork<Result>,
  ): Promise<StartedRun<Result | Stopped>> => {
    const depth = caller.depth ?? 0
    assertDepth(depth)
    await allowances.takeRun(accountId)
    const program = await makeProgram()
    const live = await liveRuns.begin({
      ...about,
      id: newId(),
      valId: val.id,
      file: val.file ?? null,
      version: val.version,
      accountId,
      ownerId: val.ownerId,
      source: caller.isInBrowser ? "ui" : "api",
      depth,
      startedAt: now(),
    })
    return { id: live.id, ended: execute(program, live, work) }
  }
  return {
    startProgram,
    /** Records the run, then starts it. */
    async start<Result>(caller: Caller, val: Val, about: RunStart, work: RunWork<Result>) {
      assertRunnable(val)
      const accountId = accountOf(val, caller)
      const makeProgram = () => programs.of(val, accountId)
      return startProgram(caller, accountId, val, makeProgram, about, work)
    },
  }
}

/** Throws if the owner of the val is suspended. */
export function assertRunnable(val: Val): void {
  if (val.isOwnerSuspended)
    throw new AppError(
      "user_suspended",
      `Cannot run val "${val.name}": the account of its owner is suspended`,
    )
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
    ? parseJson(json, limits.runValueBytesMax)
    : truncateText(json, limits.runValueBytesMax)
}

/** Returns the result of a call. Throws a RunFailure if the val failed. */
export async function getReturned(
  { id, ended }: StartedRun<Returned | Stopped>,
  val: ValAccess & Pick<Val, "ownerName" | "name">,
  caller: Caller | undefined,
): Promise<Returned["json"]> {
  const outcome = await ended
  const label = `${val.ownerName}/${val.name}`
  if (outcome.kind === "stopped")
    throw toRunFailure(outcome, id, label, rightsOn(val, caller).inspect)
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

function toStopped(live: LiveRun, error: unknown): Stopped {
  if (live.isCancelled) return { kind: "stopped", status: "cancelled", error: cancelledError }
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
