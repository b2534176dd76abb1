import type { ErrorCode } from "@hamlet/contract"
import { toKnownMethod } from "@hamlet/http1"
import { type Attributes, explainWaits, Work } from "@hamlet/kit"
import type { Caller } from "../domain/access/caller.ts"
import type { LiveRun } from "../domain/runs/live-runs.ts"
import type { Val } from "../domain/vals/vals.ts"
import { logLimits } from "../shared/log-limits.ts"
import type { GatewayConnection } from "./deps.ts"
import type { ValAddress } from "./val-hosts.ts"

/** Facts about a request, collected for its log line, its span and the log of slow requests. */
export class RequestTrace extends Work {
  readonly startedMs = performance.now()
  /** When the current part of the work began. */
  sinceMs = this.startedMs
  /** To find the val and its program. */
  lookupMs = 0
  valMs = 0
  address: ValAddress | undefined
  val: Val | undefined
  /** The authenticated user. A preview pass authenticates no user. */
  user: Pick<Caller, "actorId" | "actorName"> | undefined
  run: LiveRun | undefined
  /** The reason why the val did not run. */
  code: ErrorCode | undefined

  /** The id is that of the run, if there is one, and of the trace, if it begins here. */
  constructor(readonly id: string) {
    super()
  }

  /** Adds the time since the last call to what the request has waited for. */
  mark(wait: "lookupMs" | "clientMs" | "valMs"): void {
    const nowMs = performance.now()
    this[wait] += nowMs - this.sinceMs
    this.sinceMs = nowMs
  }

  /** For the log of slow requests. */
  explain(): object {
    const { lookupMs: database, clientMs: client, queueMs, processMs, egressMs: egress } = this
    const val = Math.max(0, this.valMs - egress)
    return explainWaits({ database, client, queue: queueMs, process: processMs, val, egress })
  }
}

/**
 * The fields of a request's log line. The path is left out: it may contain a key that the val's
 * owner has given to someone. The host is logged only when it names a val by name or id: any other
 * may be a pass or contain one.
 */
export function toLogFields(
  request: Request,
  connection: GatewayConnection | undefined,
  trace: RequestTrace,
  status: number,
): object {
  const { id, address, val, user, run, code } = trace
  const isPreview = address?.pass !== undefined
  return {
    requestId: id,
    runId: run?.id,
    method: request.method.slice(0, logLimits.methodCharsMax),
    host: isPreview ? undefined : address?.host,
    val: val && `${val.ownerName}/${val.name}`,
    isPreview: isPreview || undefined,
    status,
    code,
    ms: Math.round((performance.now() - trace.startedMs) * 100) / 100,
    user: user?.actorName,
    userId: user?.actorId,
    address: connection?.address().slice(0, logLimits.addressCharsMax) || undefined,
  }
}

/** The attributes of a request's span. The path is left out, as in the log. */
export function describeSpan(request: Request, trace: RequestTrace, status: number): Attributes {
  const { address, val, run, code } = trace
  return {
    "http.request.method": toKnownMethod(request.method),
    "http.response.status_code": status,
    "server.address": address?.pass === undefined ? address?.host : undefined,
    "hamlet.val": val && `${val.ownerName}/${val.name}`,
    "hamlet.val.id": val?.id,
    "hamlet.run.id": run?.id,
    "hamlet.run.status": run?.status,
    "error.type": code,
  }
}
