import type { HeaderList } from "@hamlet/http1"
import type { CallArgs, Client, SlotRequest } from "@hamlet/sandbox"
import type { Caller } from "../../access/caller.ts"
import { AppError } from "../../app-error.ts"
import type { StartedFiles } from "../../files/started-files.ts"
import type { MailInputs } from "../../mail/inbound/receive-mail.ts"
import type { Val, Vals } from "../../vals/vals.ts"
import type { Versions } from "../../vals/versions.ts"
import type { ResponseKeeper } from "../contents/response-keeper.ts"
import {
  callWith,
  type RunStarter,
  type RunWork,
  type StartedRun,
  toRecordedArgs,
} from "../execute-run.ts"
import { readCallArgs } from "../run-arguments.ts"
import {
  isRequestInput,
  type RequestInput,
  type RunDetail,
  type RunInput,
  type RunRequest,
  type RunStore,
  type Runs,
} from "../runs.ts"
import {
  changeRequest,
  findReplacedInput,
  findRequestPart,
  type ReplayChanges,
  unfitChange,
} from "./replay-changes.ts"

/** What a replay runs. */
export interface Replay {
  readonly val: Val
  readonly args: unknown
  /** The arguments that the changes replace those of the run with; `args` may be only their beginning. */
  readonly given?: CallArgs | undefined
  readonly input: RunInput | null
  readonly request: Pick<RunRequest, "method" | "url"> | null
  /** Headers that are sent, but not stored. */
  readonly credentials: HeaderList
}

/** The rules of replays. */
export type Replays = ReturnType<typeof createReplays>

interface ReplaysParts {
  readonly starter: RunStarter
  readonly runs: Runs
  readonly store: RunStore
  readonly vals: Pick<Vals, "findById">
  readonly versions: Versions
  readonly startedFiles: Pick<StartedFiles, "getById">
  readonly responses: ResponseKeeper
  readonly mailInputs: MailInputs
}

/** Creates the rules of replays. */
export function createReplays({
  starter,
  runs,
  store,
  vals,
  versions,
  startedFiles,
  responses,
  mailInputs,
}: ReplaysParts) {
  /** The file that the run has started, as it was in a version. */
  const findVal = async (run: RunDetail, version: number): Promise<Val | undefined> => {
    const { file, branch, val } = run
    if (!file || !branch || file.id === val.id) return versions.find(val.id, version)
    const current = await vals.findById(val.id)
    return (
      current &&
      startedFiles.getById(current, { id: file.id, branchId: branch.id }, version).catch(toMissing)
    )
  }
  const findVersion = async (run: RunDetail, version: number | undefined): Promise<Val> => {
    const found = await findVal(run, version ?? run.val.version)
    if (found) return found
    if (version !== undefined)
      throw new AppError(
        "version_not_found",
        `Cannot replay run "${run.id}": the val has no version ${version}`,
      )
    throw notReplayable(run.id, `version ${run.val.version} of the val was deleted`)
  }
  /** Finds the version and the input of a run. Throws when one of them is not stored any more. */
  const prepare = async (caller: Caller, id: string, changes: ReplayChanges): Promise<Replay> => {
    const run = await runs.get(caller, id)
    if (run.val.id === run.val.ownerId) throw notReplayable(id, "its code was not saved")
    const val = await findVersion(run, changes.version)
    const input = await store.findInput(run.id)
    if (!run.request) return { val, request: null, credentials: [], ...toArgs(run, input, changes) }
    if (changes.args !== undefined)
      throw unfitChange("args", "must be left out: a request started the run, without arguments")
    return { ...toRequest(val, run, run.request, input, changes), val, args: null }
  }
  return {
    prepare,
    /** Runs a version with the input of a run again, on the caller's account. */
    async start(
      caller: Caller,
      id: string,
      changes: ReplayChanges = {},
    ): Promise<StartedRun<unknown>> {
      const { val, args, given, input, request, credentials } = await prepare(caller, id, changes)
      const about = { args, parentId: id, request, input }
      const work: RunWork<unknown> =
        request && input && isRequestInput(input)
          ? sendRequest(responses, request.method, request.url, {
              ...input,
              headers: [...input.headers, ...credentials],
            })
          : callWith(given ?? (await readCallArgs(mailInputs, input, args)))
      return starter.start(caller, val, about, work)
    },
  }
}

function toMissing(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
}

function toArgs(
  run: RunDetail,
  input: RunInput | undefined,
  changes: ReplayChanges,
): Pick<Replay, "args" | "given" | "input"> {
  const part = findRequestPart(changes)
  if (part) throw unfitChange(part, "must be left out: no request started the run")
  if (changes.args !== undefined) {
    if (input && (isRequestInput(input) || input.kind !== "args"))
      throw unfitChange("args", "must be left out: they come from the schedule or the mail")
    return { args: toRecordedArgs(changes.args), given: changes.args, input: null }
  }
  // Truncated arguments are stored as a string.
  if (!Array.isArray(run.args) && input === undefined)
    throw notReplayable(run.id, "its arguments were too large to store")
  return { args: run.args, input: input ?? null }
}

function toRequest(
  val: Val,
  run: RunDetail,
  { method, url }: RunRequest,
  input: RunInput | undefined,
  changes: ReplayChanges,
): Omit<Replay, "val" | "args"> {
  if (val.type !== "http") throw notReplayable(run.id, "the val is no longer of type http")
  const stored =
    input && isRequestInput(input) ? input : findReplacedInput({ method, url }, changes)
  if (!stored)
    throw notReplayable(
      run.id,
      "its request was not stored completely, and the changes do not replace its path, headers and body",
    )
  return changeRequest({ method, url }, stored, changes)
}

/** Reads the response to its end: the run records its status, its headers and its start. */
export function sendRequest(
  responses: ResponseKeeper,
  method: string,
  url: string,
  input: RequestInput,
): RunWork<unknown> {
  return async (slot, live) => {
    const outcome = await slot.fetch(toSlotRequest(method, url, input, live))
    if (outcome.kind === "stopped")
      return { result: outcome, end: { status: outcome.status, error: outcome.error } }
    const { status: responseStatus, body, headers } = outcome.response
    const sample = body instanceof ReadableStream ? responses.createSample(headers) : undefined
    const keep = () =>
      responses.keep(
        {
          valId: live.valId,
          status: responseStatus,
          headers,
          body: sample ?? (body instanceof Uint8Array ? body : null),
        },
        slot.mask,
      )
    try {
      if (body instanceof ReadableStream)
        for await (const chunk of body) {
          sample?.add(chunk)
          if (live.isCancelled) break
        }
    } catch (error) {
      const message = `The response was incomplete: ${error instanceof Error ? error.message : error}`
      const failure = { name: "Error", message }
      return {
        result: undefined,
        end: { status: "failed", error: failure, responseStatus, response: keep() },
      }
    }
    if (sample && !live.isCancelled) sample.isComplete = true
    const status = live.isCancelled ? "cancelled" : "succeeded"
    return { result: undefined, end: { status, error: null, responseStatus, response: keep() } }
  }
}

function toSlotRequest(
  method: string,
  address: string,
  input: RequestInput,
  client: Client,
): SlotRequest {
  const url = new URL(address)
  const body = Buffer.from(input.body, "base64")
  return {
    method,
    host: url.host,
    target: `${url.pathname}${url.search}`,
    headers: [
      ...input.headers,
      ["x-forwarded-proto", url.protocol.slice(0, -1)],
      ["x-forwarded-host", url.host],
    ],
    body: body.length === 0 ? null : body,
    client,
  }
}

function notReplayable(id: string, reason: string): AppError {
  return new AppError("not_replayable", `Cannot replay run "${id}": ${reason}`)
}
