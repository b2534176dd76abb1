import { replaceEach } from "@hamlet/kit"
import {
  brokenResponse,
  disconnectedError,
  type RunSlot,
  type SlotRequest,
  type Stopped,
} from "@hamlet/sandbox"
import { AppError } from "../domain/app-error.ts"
import type { ResponseKeeper } from "../domain/runs/contents/response-keeper.ts"
import type { LiveRun, RunEnd } from "../domain/runs/live-runs.ts"
import type { RunError } from "../domain/runs/runs.ts"
import type { GatewayConnection } from "./deps.ts"
import type { GatewayLimits } from "./limits.ts"
import type { RequestBody } from "./request/request-body.ts"
import type { HeaderRecord } from "./request/request-headers.ts"
import { type ErrorPageContent, toErrorPage } from "./response/error-page.ts"

/** A request to a val, and its run. */
export interface RequestContext {
  readonly request: Request
  readonly headers: HeaderRecord
  readonly connection: GatewayConnection
  readonly limits: GatewayLimits
  readonly run: LiveRun
  readonly responses: ResponseKeeper
  readonly body: RequestBody
  readonly slotRequest: SlotRequest
  /** Releases the place of a WebSocket. */
  readonly releaseSocket: (() => void) | undefined
  /** Whether the connection may be idle for as long as the run lasts. */
  isIdleTimeoutDisabled: boolean
  /** Whether the sender may see the errors of the val. */
  readonly isOwner: boolean
  /** Whether the host name is a preview pass, which is a secret. */
  readonly isByPass: boolean
  /** The tag that a page in the frame of a preview gets. */
  readonly scriptTag: Uint8Array | undefined
}

/** Lets the connection be idle until the run ends: the val may send nothing for a long time. */
export function disableIdleTimeout(context: RequestContext): void {
  if (context.isIdleTimeoutDisabled) return
  context.isIdleTimeoutDisabled = true
  context.connection.timeout(0)
}

/** Calls back when the run is cancelled: at once if it is already, since no event follows then. */
export function onCancel({ run: { signal } }: RequestContext, callback: () => void): void {
  if (signal.aborted) callback()
  else signal.addEventListener("abort", callback, { once: true })
}

/** Ends the run for the record and for the process at the same time. */
export function finish(context: RequestContext, slot: RunSlot | undefined, end: RunEnd): void {
  context.run.finish(end)
  context.body.stop()
  context.releaseSocket?.()
  slot?.release()
  if (context.isIdleTimeoutDisabled) context.connection.timeout(context.limits.idleSeconds)
}

/** Responds when the val threw, timed out or crashed. Only the owner sees the error. */
export function respondStopped(
  context: RequestContext,
  slot: RunSlot | undefined,
  { status, error }: Stopped,
): Response {
  if (status === "cancelled" && context.request.signal.aborted) {
    // The client has disconnected: it does not receive this response.
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
    : "its owner finds the error in the run with this id"
  if (status === "timed_out")
    return respondFailed(
      context,
      slot,
      { status, error },
      { code: "run_timed_out", message: `Cannot respond: the val took too long; ${reason}` },
    )
  const what = { failed: "failed", crashed: "crashed", cancelled: "was cancelled" }[status]
  return respondFailed(
    context,
    slot,
    { status, error },
    { code: "run_failed", message: `Cannot respond: the val ${what}; ${reason}` },
  )
}

/** Responds when the val's response cannot be forwarded. */
export function respondBroken(context: RequestContext, slot: RunSlot, message: string): Response {
  return respondStopped(context, slot, {
    kind: "stopped",
    status: "failed",
    error: { name: brokenResponse, message },
  })
}

/** Responds when the run got no slot. */
export function respondRejected(context: RequestContext, error: unknown): Response {
  if (context.request.signal.aborted) {
    finish(context, undefined, { status: "cancelled", error: disconnectedError })
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
    context.headers.accept,
  )
  finish(context, slot, { ...end, responseStatus: response.status })
  return response
}

/** Turns `too_many_runs` into `TooManyRuns`. */
function toErrorName(code: string): string {
  return replaceEach(code, /(?:^|_)([a-z])/g, (_, letter = "") => letter.toUpperCase(), 100)
}
