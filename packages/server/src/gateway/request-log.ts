import type { ErrorCode } from "@hamlet/contract"
import type { Caller } from "../domain/access.ts"
import type { Val } from "../domain/vals/vals.ts"
import { logLimits } from "../shared/log-limits.ts"
import type { GatewayConnection } from "./deps.ts"
import type { ValAddress } from "./val-hosts.ts"

/** What is found out about a request on its way, for the log. */
export class Trace {
  readonly startedMs = performance.now()
  address: ValAddress | undefined
  val: Val | undefined
  /** Whoever has proved it; a pass proves nothing but itself. */
  user: Pick<Caller, "userId" | "username"> | undefined
  requestId: string | undefined
  runId: string | undefined
  /** Why the val did not run. */
  code: ErrorCode | undefined
}

/**
 * The line of a request. It has no path: that may hold a key which the val's owner has given out.
 * The host is there only if it is that of a val by its names or its id: any other may be a pass, or
 * hold one.
 */
export function toLogFields(
  request: Request,
  connection: GatewayConnection | undefined,
  trace: Trace,
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
