import type { ErrorCode } from "@hamlet/contract"
import type { Caller } from "../domain/access.ts"
import type { Val } from "../domain/vals/vals.ts"
import { logLimits } from "../shared/log-limits.ts"
import type { GatewayConnection } from "./deps.ts"
import type { ValAddress } from "./val-hosts.ts"

/** Facts about a request, collected for its log line. */
export class RequestTrace {
  readonly startedMs = performance.now()
  address: ValAddress | undefined
  val: Val | undefined
  /** The authenticated user. A preview pass authenticates no user. */
  user: Pick<Caller, "userId" | "username"> | undefined
  requestId: string | undefined
  runId: string | undefined
  /** The reason why the val did not run. */
  code: ErrorCode | undefined
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
  const { address, val, user, runId, code } = trace
  const isPreview = address?.pass !== undefined
  return {
    requestId: runId ?? trace.requestId,
    runId,
    method: request.method.slice(0, logLimits.methodCharsMax),
    host: isPreview ? undefined : address?.host,
    val: val && `${val.ownerName}/${val.name}`,
    isPreview: isPreview || undefined,
    status,
    code,
    ms: Math.round((performance.now() - trace.startedMs) * 100) / 100,
    user: user?.username,
    userId: user?.userId,
    address: connection?.address().slice(0, logLimits.addressCharsMax) || undefined,
  }
}
