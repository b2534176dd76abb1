import { AppError } from "../domain/app-error.ts"
import type { LiveRun, RunEnd } from "../domain/runs/live-runs.ts"
import { brokenAnswer, type Seat, type SeatRequest, type Stopped } from "../domain/runs/runner.ts"
import type { RunError } from "../domain/runs/runs.ts"
import type { GatewayConnection } from "./deps.ts"
import type { GatewayLimits } from "./limits.ts"
import type { RequestBody } from "./request/request-body.ts"
import type { HeaderRecord } from "./request/request-headers.ts"
import { type ErrorPage, toErrorResponse } from "./response/error-page.ts"

/** A request that a val is to answer, and the run that came of it. */
export interface Visit {
  readonly request: Request
  readonly known: HeaderRecord
  readonly connection: GatewayConnection
  readonly limits: GatewayLimits
  readonly run: LiveRun
  readonly body: RequestBody
  readonly seatRequest: SeatRequest
  /** The connection may be idle for as long as the run lasts. */
  isUnlimited: boolean
  /** Whether the visitor may see what went wrong. */
  readonly isOwner: boolean
  /** The host is a pass, which must not get about. */
  readonly isByPass: boolean
}

/** Lets the connection be idle until the run is over: from now on the val decides when there is something to say. */
export function unlimit(visit: Visit): void {
  if (visit.isUnlimited) return
  visit.isUnlimited = true
  visit.connection.timeout(0)
}

/** The run is over, in the same moment for the record and for the process. */
export function finish(visit: Visit, seat: Seat | undefined, end: RunEnd): void {
  visit.run.finish(end)
  visit.body.stop()
  seat?.leave()
  if (visit.isUnlimited) visit.connection.timeout(visit.limits.idleSeconds)
}

/** The val threw, was too slow or died: a page that says so, and what it was only to the owner. */
export function answerStopped(visit: Visit, seat: Seat | undefined, { status, error }: Stopped): Response {
  if (status === "cancelled" && visit.request.signal.aborted) {
    // Nobody is there to read it.
    finish(visit, seat, { status, error })
    return new Response(null, { status: 502 })
  }
  const { failure } = visit.body
  if (failure) {
    const { code, message } = failure
    return answerFailed(visit, seat, { status: "failed", error: { name: toErrorName(code), message } }, { code, message })
  }
  const reason = visit.isOwner ? `${error.name}: ${error.message}` : "its owner finds the reason under the id of the run"
  if (status === "timed_out")
    return answerFailed(
      visit,
      seat,
      { status, error },
      { code: "run_timed_out", message: `Cannot answer: the val took too long; ${reason}` },
    )
  const what = { failed: "failed", crashed: "broke down", cancelled: "was stopped" }[status]
  return answerFailed(visit, seat, { status, error }, { code: "run_failed", message: `Cannot answer: the val ${what}; ${reason}` })
}

/** The val gave an answer that cannot be passed on. */
export function answerBroken(visit: Visit, seat: Seat, message: string): Response {
  return answerStopped(visit, seat, { kind: "stopped", status: "failed", error: { name: brokenAnswer, message } })
}

const turnedAway: ReadonlySet<string> = new Set([
  "too_many_runs",
  "overloaded",
  "packages_pending",
  "sandbox_unavailable",
  "database_unavailable",
])

/** There was no seat for the run. */
export function answerTurnedAway(visit: Visit, error: unknown): Response {
  if (visit.request.signal.aborted) {
    finish(visit, undefined, { status: "cancelled", error: { name: "Cancelled", message: "The client went away" } })
    return new Response(null, { status: 502 })
  }
  if (!(error instanceof AppError)) throw error
  const { code, message } = error
  const retrySeconds = turnedAway.has(code) ? visit.limits.retrySeconds : undefined
  return answerFailed(visit, undefined, { status: "failed", error: { name: toErrorName(code), message } }, { code, message, retrySeconds })
}

function answerFailed(
  visit: Visit,
  seat: Seat | undefined,
  end: { readonly status: RunEnd["status"]; readonly error: RunError },
  page: Pick<ErrorPage, "code" | "message" | "retrySeconds">,
): Response {
  const runError = visit.isOwner && seat ? end.error : undefined
  const response = toErrorResponse({ ...page, requestId: visit.run.id, hasRun: true, runError }, visit.known.accept)
  finish(visit, seat, { ...end, responseStatus: response.status })
  return response
}

/** `too_many_runs` as the name of an error. */
function toErrorName(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
