import { AppError } from "../domain/app-error.ts"
import type { LiveRun, RunEnd } from "../domain/runs/live-runs.ts"
import {
  brokenResponse,
  type RunSlot,
  type SlotRequest,
  type Stopped,
} from "../domain/runs/runner.ts"
import type { RunError } from "../domain/runs/runs.ts"
import type { GatewayConnection } from "./deps.ts"
import type { GatewayLimits } from "./limits.ts"
import type { RequestBody } from "./request/request-body.ts"
import type { HeaderRecord } from "./request/request-headers.ts"
import { type ErrorPageContent, toErrorPage } from "./response/error-page.ts"

/** A request that a val is to answer, and the run that came of it. */
export interface RequestContext {
  readonly request: Request
  readonly known: HeaderRecord
  readonly connection: GatewayConnection
  readonly limits: GatewayLimits
  readonly run: LiveRun
  readonly body: RequestBody
  readonly slotRequest: SlotRequest
  /** The connection may be idle for as long as the run lasts. */
  isUnlimited: boolean
  /** Whether the principal may see what went wrong. */
  readonly isOwner: boolean
  /** The host is a pass, which must not get about. */
  readonly isByPass: boolean
}

/**
 * Lets the connection be idle until the run is over: from now on the val decides when there is
 * something to say.
 */
export function unlimit(context: RequestContext): void {
  if (context.isUnlimited) return
  context.isUnlimited = true
  context.connection.timeout(0)
}

/** The run is over, in the same moment for the record and for the process. */
export function finish(context: RequestContext, slot: RunSlot | undefined, end: RunEnd): void {
  context.run.finish(end)
  context.body.stop()
  slot?.release()
  if (context.isUnlimited) context.connection.timeout(context.limits.idleSeconds)
}

/** The val threw, was too slow or died: a page that says so, and what it was only to the owner. */
export function respondStopped(
  context: RequestContext,
  slot: RunSlot | undefined,
  { status, error }: Stopped,
): Response {
  if (status === "cancelled" && context.request.signal.aborted) {
    // Nobody is there to read it.
    finish(context, slot, { status, error })
    return new Response(null, { status: 502 })
  }
  const { failure } = context.body
  if (failure) {
    const { code, message } = failure
    return respondFailed(
      context,
      slot,
      { status: "failed", error: { name: toErrorName(code), message } },
      { code, message },
    )
  }
  const reason = context.isOwner
    ? `${error.name}: ${error.message}`
    : "its owner finds the reason under the id of the run"
  if (status === "timed_out")
    return respondFailed(
      context,
      slot,
      { status, error },
      { code: "run_timed_out", message: `Cannot answer: the val took too long; ${reason}` },
    )
  const what = { failed: "failed", crashed: "broke down", cancelled: "was stopped" }[status]
  return respondFailed(
    context,
    slot,
    { status, error },
    { code: "run_failed", message: `Cannot answer: the val ${what}; ${reason}` },
  )
}

/** The val gave an answer that cannot be passed on. */
export function respondBroken(context: RequestContext, slot: RunSlot, message: string): Response {
  return respondStopped(context, slot, {
    kind: "stopped",
    status: "failed",
    error: { name: brokenResponse, message },
  })
}

/** There was no slot for the run. */
export function respondRejected(context: RequestContext, error: unknown): Response {
  if (context.request.signal.aborted) {
    finish(context, undefined, {
      status: "cancelled",
      error: { name: "Cancelled", message: "The client went away" },
    })
    return new Response(null, { status: 502 })
  }
  if (!(error instanceof AppError)) throw error
  const { code, message } = error
  return respondFailed(
    context,
    undefined,
    { status: "failed", error: { name: toErrorName(code), message } },
    { code, message, retrySeconds: context.limits.retrySeconds },
  )
}

function respondFailed(
  context: RequestContext,
  slot: RunSlot | undefined,
  end: { readonly status: RunEnd["status"]; readonly error: RunError },
  page: Pick<ErrorPageContent, "code" | "message" | "retrySeconds">,
): Response {
  const runError = context.isOwner && slot ? end.error : undefined
  const response = toErrorPage(
    { ...page, requestId: context.run.id, hasRun: true, runError },
    context.known.accept,
  )
  finish(context, slot, { ...end, responseStatus: response.status })
  return response
}

/** `too_many_runs` as the name of an error. */
function toErrorName(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
