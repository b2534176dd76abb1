import { type TraceContext, toTraceId } from "./trace-context.ts"
import type { Tracer, TraceSpan } from "./tracer.ts"
import { currentWork } from "./work.ts"

/**
 * The span of a request. Without a parent it is below the request of this process that sends it, if
 * there is one, or begins a trace, whose id has the digits of `id`.
 */
export function startRequest(
  tracer: Tracer,
  name: string,
  parent: TraceContext | undefined,
  id: string,
): TraceSpan {
  const sender = currentWork()?.span
  const known = parent ?? (sender?.endMs === undefined ? sender : undefined)
  const traceId = known?.traceId ?? toTraceId(id)
  return tracer.start({ name, kind: "server", parent: known, traceId })
}

/** Why a request has failed: only for errors of the server, as the conventions want it. */
export function toFailure(status: number): string | undefined {
  return status >= 500 ? String(status) : undefined
}
