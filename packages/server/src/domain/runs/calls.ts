import type { CallArgs, Returned, Stopped } from "@hamlet/sandbox"
import { type Caller, unauthenticated } from "../access/caller.ts"
import type { Clock } from "../clock.ts"
import type { StartedFiles, StartedPlace } from "../files/started-files.ts"
import type { MailInputs } from "../mail/inbound/receive-mail.ts"
import type { Programs } from "../modules/programs.ts"
import type { Val, Vals } from "../vals/vals.ts"
import type { Versions } from "../vals/versions.ts"
import {
  assertRunnable,
  callWith,
  getReturned,
  type RunStarter,
  type StartedRun,
  toRecordedArgs,
} from "./execute-run.ts"
import { findTrialInput, readCallArgs, toRecordedInterval } from "./run-arguments.ts"
import type { RunStore } from "./runs.ts"

/** The arguments of a run, and what to run. */
export interface CallInput extends StartedPlace {
  readonly args: CallArgs
}

/** A call by a client without a token. */
export interface AnonymousCall {
  readonly username: string
  readonly name: string
  readonly args: CallArgs
  /** The number of vals that called each other before this call. */
  readonly depth: number
}

/** Calls of vals through the API. */
export type Calls = ReturnType<typeof createCalls>

interface CallsParts {
  readonly starter: RunStarter
  readonly vals: Vals
  readonly versions: Versions
  readonly programs: Programs
  readonly startedFiles: StartedFiles
  readonly mailInputs: MailInputs
  readonly runs: Pick<RunStore, "findLastStart">
  readonly clock: Clock
}

/** Creates the rules of calls. */
export function createCalls({
  starter,
  vals,
  versions,
  programs,
  startedFiles,
  mailInputs,
  runs,
  clock: { now },
}: CallsParts) {
  const findTrial = (val: Val, args: CallArgs) => findTrialInput(runs, val, args, now())
  const startCall = async (
    caller: Caller,
    val: Val,
    args: CallArgs,
  ): Promise<StartedRun<Returned | Stopped>> => {
    const input = await findTrial(val, args)
    const recorded = input ? toRecordedInterval(input) : toRecordedArgs(args)
    const about = { args: recorded, parentId: null, request: null, input: input ?? null }
    const called = input ? await readCallArgs(mailInputs, input, recorded) : args
    return starter.start<Returned | Stopped>(caller, val, about, callWith(called))
  }
  /** The val that the caller wants to run, by default its entry file at the current version. */
  const findVal = async (caller: Caller, valId: string, place: StartedPlace): Promise<Val> => {
    const { path, branch, version } = place
    if (path !== undefined || branch !== undefined)
      return startedFiles.get(await vals.get(caller, valId), place)
    return version === undefined ? vals.get(caller, valId) : versions.get(caller, valId, version)
  }
  return {
    findVal,
    /** What a val of type interval gets without arguments; undefined for other calls. */
    findTrialInput: findTrial,
    /**
     * Runs a val that the caller may see, on the caller's account. The val gets secrets only if the
     * caller owns it.
     */
    start: async (caller: Caller, valId: string, { args, ...place }: CallInput) =>
      startCall(caller, await findVal(caller, valId, place), args),
    /** Calls a val by its name and returns its result as JSON. */
    async call(
      caller: Caller,
      username: string,
      name: string,
      args: CallArgs,
    ): Promise<Returned["json"]> {
      const val = await vals.getByName(caller, username, name)
      return getReturned(await startCall(caller, val, args), val, caller)
    },
    /**
     * Calls a public val for a client without a token. It runs on its owner's account, like a request
     * to the val's endpoint, but without secrets and without a token.
     */
    async callAnonymously({ username, name, args, depth }: AnonymousCall) {
      const val = await vals.findByName(username.replace(/^@/, ""), name, undefined)
      // The response must not reveal which other vals exist.
      if (val?.privacy !== "public") throw unauthenticated()
      assertRunnable(val)
      const about = { args: toRecordedArgs(args), parentId: null, request: null, input: null }
      const makeProgram = () => programs.of(val, val.ownerId, { isAnonymous: true })
      const started = await starter.startProgram(
        { depth },
        val.ownerId,
        val,
        makeProgram,
        about,
        callWith(args),
      )
      return getReturned(started, val, undefined)
    },
  }
}
