import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Val } from "../vals/vals.ts"
import {
  type ExecuteDeps,
  type RunWork,
  type StartedRun,
  startCall,
  startRun,
} from "./execute-run.ts"
import type { Client, SlotRequest } from "./runner.ts"
import { getRun, type RunDetail, type RunInput, type RunRequest, unsavedVersion } from "./runs.ts"

/** Runs the same version with the same input again, on the caller's account. */
export async function replayRun(
  deps: ExecuteDeps,
  caller: Caller,
  id: string,
): Promise<StartedRun<unknown>> {
  const run = await getRun(deps, caller, id)
  if (run.val.version === unsavedVersion) throw notReplayable(id, "its code was not saved")
  const val = await deps.versions.find(run.val.id, run.val.version)
  if (!val) throw notReplayable(id, `version ${run.val.version} of the val was deleted`)
  if (run.request) return replayRequest(deps, caller, val, run, run.request)
  // Truncated arguments are stored as a string.
  if (!Array.isArray(run.args)) throw notReplayable(id, "its arguments were too large to store")
  return startCall(deps, caller, val, run.args, run.id)
}

async function replayRequest(
  deps: ExecuteDeps,
  caller: Caller,
  val: Val,
  run: RunDetail,
  { method, url }: RunRequest,
) {
  const input = await deps.runs.findInput(run.id)
  if (!input) throw notReplayable(run.id, "its request was not stored completely")
  if (val.type !== "http") throw notReplayable(run.id, "the val is no longer of type http")
  const about = { args: null, parentId: run.id, request: { method, url }, input }
  return startRun(deps, caller, val, about, sendRequest(method, url, input))
}

/** Reads the response to its end and discards it: the run records the status and the logs. */
function sendRequest(method: string, url: string, input: RunInput): RunWork<unknown> {
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
  input: RunInput,
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
