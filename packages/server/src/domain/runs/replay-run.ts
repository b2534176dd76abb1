import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Val } from "../vals/vals.ts"
import {
  callWith,
  type ExecuteDeps,
  type RunWork,
  type StartedRun,
  startRun,
} from "./execute-run.ts"
import { readCallArgs } from "./run-arguments.ts"
import type { Client, SlotRequest } from "./runner.ts"
import {
  getRun,
  isRequestInput,
  type RequestInput,
  type RunDetail,
  type RunInput,
  type RunRequest,
  unsavedVersion,
} from "./runs.ts"

/** Runs the same version with the same input again, on the caller's account. */
export async function replayRun(
  deps: ExecuteDeps,
  caller: Caller,
  id: string,
): Promise<StartedRun<unknown>> {
  const { val, args, input, request } = await prepareReplay(deps, caller, id)
  const about = { args, parentId: id, request, input }
  const work: RunWork<unknown> =
    request && input && isRequestInput(input)
      ? sendRequest(request.method, request.url, input)
      : callWith(await readCallArgs(deps, input, args))
  return startRun(deps, caller, val, about, work)
}

/** What a replay runs. */
export interface Replay {
  readonly val: Val
  readonly args: unknown
  readonly input: RunInput | null
  readonly request: Pick<RunRequest, "method" | "url"> | null
}

/** Finds the version and the input of a run. Throws when one of them is not stored any more. */
export async function prepareReplay(
  deps: ExecuteDeps,
  caller: Caller,
  id: string,
): Promise<Replay> {
  const run = await getRun(deps, caller, id)
  if (run.val.version === unsavedVersion) throw notReplayable(id, "its code was not saved")
  const val = await deps.versions.find(run.val.id, run.val.version)
  if (!val) throw notReplayable(id, `version ${run.val.version} of the val was deleted`)
  const input = await deps.runs.findInput(run.id)
  if (run.request) return { ...toRequest(val, run, run.request, input), val }
  // Truncated arguments are stored as a string.
  if (!Array.isArray(run.args) && input === undefined)
    throw notReplayable(id, "its arguments were too large to store")
  return { val, args: run.args, input: input ?? null, request: null }
}

function toRequest(
  val: Val,
  run: RunDetail,
  { method, url }: RunRequest,
  input: RunInput | undefined,
): Omit<Replay, "val"> {
  if (!input || !isRequestInput(input))
    throw notReplayable(run.id, "its request was not stored completely")
  if (val.type !== "http") throw notReplayable(run.id, "the val is no longer of type http")
  return { args: null, input, request: { method, url } }
}

/** Reads the response to its end and discards it: the run records the status and the logs. */
export function sendRequest(method: string, url: string, input: RequestInput): RunWork<unknown> {
  return async (slot, live) => {
    const outcome = await slot.fetch(toSlotRequest(method, url, input, live))
    if (outcome.kind === "stopped")
      return { result: outcome, end: { status: outcome.status, error: outcome.error } }
    const { status: responseStatus, body } = outcome.response
    try {
      if (body instanceof ReadableStream)
        for await (const _chunk of body) if (live.isCancelled) break
    } catch (error) {
      const message = `The response was incomplete: ${error instanceof Error ? error.message : error}`
      return {
        result: undefined,
        end: { status: "failed", error: { name: "Error", message }, responseStatus },
      }
    }
    const status = live.isCancelled ? "cancelled" : "succeeded"
    return { result: undefined, end: { status, error: null, responseStatus } }
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
