import type { Watchdog } from "@hamlet/kit"
import { cancelledError, disconnectedError, type RunSlot } from "@hamlet/sandbox"
import type { RunEnd } from "../../domain/runs/live-runs.ts"
import type { HeaderRecord } from "../request/request-headers.ts"
import {
  finish,
  onCancel,
  type RequestContext,
  respondBroken,
  respondStopped,
} from "../request-context.ts"
import { forwardResponse } from "../response/forward-response.ts"
import type { SocketEnd } from "./socket-relay.ts"
import type { Sockets } from "./sockets.ts"

/** Whether a request asks for a WebSocket. Requests for other protocols are ignored. */
export function isSocketRequest(method: string, headers: HeaderRecord): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket"
}

/**
 * Opens a WebSocket to the val, then one to the client. Undefined when both are open, else the
 * response that the val sent instead.
 */
export async function openSocket(
  context: RequestContext,
  slot: RunSlot,
  sockets: Sockets,
  deadlines: Watchdog,
): Promise<Response | undefined> {
  const outcome = await slot.connect(context.slotRequest)
  if (outcome.kind === "stopped") return respondStopped(context, slot, outcome)
  if (outcome.kind === "refused") return forwardResponse(context, slot, outcome.response, deadlines)
  const { socket, protocol } = outcome
  const relay = sockets.add(context.run.accountId, socket, (end) =>
    finishSocket(context, slot, end),
  )
  onCancel(context, () => relay.end("broken"))
  const headers: Record<string, string> = { "x-run-id": context.run.id }
  if (protocol !== "") headers["sec-websocket-protocol"] = protocol
  if (context.connection.upgrade({ data: relay, headers })) {
    context.run.noteSocketOpen()
    return undefined
  }
  // First, so that the run ends with what happened to the request.
  const response = respondUnopened(context, slot)
  relay.end("closed")
  return response
}

function respondUnopened(context: RequestContext, slot: RunSlot): Response {
  if (!context.request.signal.aborted)
    return respondBroken(context, slot, "The request is not a valid WebSocket handshake")
  const error = disconnectedError
  return respondStopped(context, slot, { kind: "stopped", status: "cancelled", error })
}

function finishSocket(context: RequestContext, slot: RunSlot, end: SocketEnd): void {
  if (end === "expired") slot.stop("timed_out")
  finish(context, slot, { ...toRunEnd(context, end), responseStatus: 101 })
}

function toRunEnd(context: RequestContext, end: SocketEnd): RunEnd {
  if (end === "closed") return { status: "succeeded", error: null }
  if (end === "expired") {
    const message = `The WebSocket was open for longer than ${context.limits.streamMsMax / 1000} seconds and was closed`
    return { status: "timed_out", error: { name: "TimedOut", message } }
  }
  if (context.run.isCancelled) return { status: "cancelled", error: cancelledError }
  return {
    status: "crashed",
    error: {
      name: "BrokenSocket",
      message: "The val closed its WebSocket without a closing handshake",
    },
  }
}
