import { type HeaderList, type RequestHead, toKnownMethod } from "@hamlet/http1"
import { parseTraceparent, type TraceSpan } from "@hamlet/kit"
import type { EgressClient } from "../../sandboxes/egress-listener.ts"
import type { Refusal } from "../policy/refusal.ts"
import type { Target } from "../policy/target.ts"

const hostCharsMax = 255

/**
 * The span of a request that a run sends. If the program has spans of its own in the trace of the run,
 * it is below the one that its headers name.
 */
export function startSpan(run: TraceSpan, { headers }: RequestHead): TraceSpan {
  return run.child("fetch", "client", findOwn(headers, run))
}

/**
 * Lets the receiver continue the trace. A program that continues another trace is left alone; the span
 * is in the trace of its run nevertheless.
 */
export function continueTrace(headers: HeaderList, span: TraceSpan): HeaderList {
  const isOwn = headers.some(([name]) => name === "traceparent")
  if (isOwn && !findOwn(headers, span)) return headers
  const others = headers.filter(([name]) => name !== "traceparent" && name !== "tracestate")
  const state: HeaderList = span.state === "" ? [] : [["tracestate", span.state]]
  return [...others, ["traceparent", span.traceparent], ...state]
}

/** Neither a path nor a query is in a span: they often have a key. A host may have one. */
export function endSpan(
  span: TraceSpan,
  { method }: RequestHead,
  target: Target | undefined,
  status: number | null,
  refusal: Refusal | undefined,
  client: Pick<EgressClient, "mask">,
): void {
  const attributes = {
    "http.request.method": toKnownMethod(method),
    "server.address": target && client.mask(target.hostname, hostCharsMax),
    "server.port": target?.port,
    "http.response.status_code": status ?? undefined,
  }
  span.end(attributes, refusal && "blocked")
}

/** The program's own span in this trace. */
function findOwn(headers: HeaderList, { traceId }: TraceSpan) {
  const sent = headers.filter(([name]) => name === "traceparent")
  const state = headers.find(([name]) => name === "tracestate")?.[1]
  const own = sent.length === 1 ? parseTraceparent(sent[0]?.[1], state) : undefined
  return own?.traceId === traceId ? own : undefined
}
