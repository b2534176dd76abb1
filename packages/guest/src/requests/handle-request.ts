import { quote, send, sendTail } from "../control/outbox.ts"
import { toErrorText } from "../errors/error-text.ts"
import { bodyStateOf } from "../internals.ts"
import { limits } from "../limits.ts"
import {
  bare,
  headersForEach,
  PromiseCtor,
  ResponseCtor,
  responseHeaders,
  responseStatus,
  TypeErrorCtor,
  toBase64,
} from "../primordials.ts"
import { failRun, toFailure } from "../runs/failures.ts"
import { closeRun, inRun, openRun, type Run } from "../runs/runs.ts"
import type { Program } from "../val/program.ts"
import { toResponse } from "../values/to-response.ts"
import { readBody } from "./read-body.ts"
import { watchBody } from "./watch-body.ts"

/**
 * Passes the val a request to its web address. Creates no promise for a val that responds
 * synchronously.
 */
export function handleRequest(
  program: Program,
  request: Request,
  runId: string,
  isUpgrade: boolean,
): Response | Promise<Response> {
  const run = openRun(runId)
  try {
    const result = inRun(run, program.respond, request)
    if (result instanceof ResponseCtor) return finish(run, result, isUpgrade)
    return isThenable(result)
      ? wait(run, result, isUpgrade)
      : finish(run, inRun(run, toResponse, result), isUpgrade)
  } catch (thrown) {
    return finishFailed(run, thrown, isUpgrade)
  }
}

function isThenable(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function"
  )
}

/** An uncaught error ends the wait. */
function wait(run: Run, result: unknown, isUpgrade: boolean): Promise<Response> {
  return new PromiseCtor((resolve) => {
    run.end = (response) => {
      closeRun(run)
      resolve(response)
    }
    void settle(run, result, isUpgrade, resolve)
  })
}

async function settle(
  run: Run,
  result: unknown,
  isUpgrade: boolean,
  resolve: (response: Response) => void,
): Promise<void> {
  try {
    const value = await result
    const response = finish(
      run,
      value instanceof ResponseCtor ? value : inRun(run, toResponse, value),
      isUpgrade,
    )
    resolve(response instanceof ResponseCtor ? response : await response)
  } catch (thrown) {
    resolve(finishFailed(run, thrown, isUpgrade))
  }
}

function finish(run: Run, response: Response, isUpgrade: boolean): Response | Promise<Response> {
  if (run.failure !== undefined) return finishFailed(run, run.failure.thrown, isUpgrade)
  if (isUpgrade && responseStatus(response) !== switchingProtocols)
    return refuseUpgrade(run, response)
  const state = bodyStateOf(response)
  if (state === "used")
    throw new TypeErrorCtor(
      "Cannot send a Response: its body is already used, or it is Response.error()",
    )
  if (state === "stream") return watchBody(run, response)
  sendTail(run)
  closeRun(run)
  return response
}

const switchingProtocols = 101

/** A WebSocket client does not see the response, so the failure is also reported to the host. */
function finishFailed(run: Run, thrown: unknown, isUpgrade: boolean): Response {
  if (isUpgrade) failRun(run, thrown)
  closeRun(run)
  return toFailure(run, run.failure?.error ?? toErrorText(thrown))
}

/**
 * Handles an ordinary response to an upgrade request: reports it to the host, and refuses the
 * WebSocket with its status.
 */
async function refuseUpgrade(run: Run, response: Response): Promise<Response> {
  const status = responseStatus(response)
  const { bytes } = await readBody(response, limits.refusedBodyBytesMax)
  let headers = ""
  headersForEach(responseHeaders(response), (value, name) => {
    headers += `${headers === "" ? "" : ","}[${quote(name)},${quote(value)}]`
  })
  send(
    `{"kind":"refused","run":${quote(run.id)},"status":${status},"headers":[${headers}],"body":"${toBase64(bytes)}"}`,
  )
  closeRun(run)
  return new ResponseCtor(null, bare({ status: status >= 200 ? status : 500 }))
}
