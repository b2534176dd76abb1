import type { RunEnd } from "../../domain/runs/live-runs.ts"
import type { Seat } from "../../domain/runs/runner.ts"
import type { Deadlines } from "../deadlines.ts"
import type { HeaderRecord } from "../request/request-headers.ts"
import { answerBroken, answerStopped, finish, type Visit } from "../request-context.ts"
import { passOn } from "../response/forward-response.ts"
import type { SocketEnd } from "./socket-relay.ts"
import type { Sockets } from "./sockets.ts"

/** Whether a request asks for a WebSocket. Other protocols are not offered, so that asking for them means nothing. */
export function isSocketRequest(method: string, known: HeaderRecord): boolean {
  return known.upgrade !== undefined && method === "GET" && known.upgrade.toLowerCase() === "websocket"
}

/** Opens a WebSocket to the val, then one to the client. Undefined when that has happened, else what the val answered instead. */
export async function openSocket(
  visit: Visit,
  seat: Seat,
  sockets: Sockets,
  valId: string,
  deadlines: Deadlines,
): Promise<Response | undefined> {
  const outcome = await seat.connect(visit.seatRequest)
  if (outcome.kind === "stopped") return answerStopped(visit, seat, outcome)
  if (outcome.kind === "refused") return passOn(visit, seat, outcome.answer, deadlines)
  const { socket, protocol } = outcome
  const relay = sockets.add(valId, socket, (end) => finishSocket(visit, seat, end))
  visit.run.signal.addEventListener("abort", () => relay.end("broken"), { once: true })
  const headers: Record<string, string> = { "x-run-id": visit.run.id }
  if (protocol !== "") headers["sec-websocket-protocol"] = protocol
  if (visit.connection.upgrade({ data: relay, headers })) return undefined
  relay.end("closed")
  return answerBroken(visit, seat, "The request was no handshake of a WebSocket")
}

function finishSocket(visit: Visit, seat: Seat, end: SocketEnd): void {
  if (end === "expired") seat.stop("timed_out")
  finish(visit, seat, { ...toRunEnd(visit, end), responseStatus: 101 })
}

function toRunEnd(visit: Visit, end: SocketEnd): RunEnd {
  if (end === "closed") return { status: "succeeded", error: null }
  if (end === "expired") {
    const message = `The WebSocket was open for longer than ${visit.limits.streamMsMax / 1000} seconds and was closed`
    return { status: "timed_out", error: { name: "TimedOut", message } }
  }
  if (visit.run.isCancelled) return { status: "cancelled", error: { name: "Cancelled", message: "The run was cancelled" } }
  return { status: "crashed", error: { name: "BrokenSocket", message: "The val broke off its WebSocket" } }
}
