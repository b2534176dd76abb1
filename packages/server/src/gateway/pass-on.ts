import type { Seat } from "../domain/execution.ts"
import { prepareAnswerHeaders } from "./answer-headers.ts"
import { AnswerStream } from "./answer-stream.ts"
import type { Deadlines } from "./deadlines.ts"
import { answerBroken, answerStopped, finish, unlimit, type Visit } from "./visit.ts"

/** Statuses whose answers have no body, whatever their headers say. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/** Passes the val's answer on to the client. The run is over when the answer is. */
export function passOn(visit: Visit, seat: Seat, response: Response, deadlines: Deadlines): Response | Promise<Response> {
  const { status } = response
  const { limits } = visit
  const head = prepareAnswerHeaders(response.headers, visit.run.id, limits.answerHeaderBytesMax)
  if (status < 200 || status > 599 || !head) {
    response.body?.cancel().catch(() => {})
    const message = head
      ? `The val answered with status ${status}`
      : `The headers of the answer have more than ${limits.answerHeaderBytesMax} bytes`
    return answerBroken(visit, seat, message)
  }
  if (visit.request.method === "HEAD" || bodiless.has(status)) return complete(visit, seat, null, response)
  if (head.length === 0) return complete(visit, seat, null, response)
  // Bun would make up a type for bytes without one, so that a browser no longer looked at what they are.
  const isWhole = head.hasType && head.length !== undefined && head.length <= limits.wholeAnswerBytesMax
  if (!isWhole) return passOnStream(visit, seat, response, deadlines)
  const reading = response.bytes()
  const bytes = Bun.peek(reading)
  return bytes instanceof Uint8Array ? complete(visit, seat, bytes, response) : passOnLate(visit, seat, response, reading, deadlines)
}

function complete(visit: Visit, seat: Seat, body: Uint8Array<ArrayBuffer> | null, response: Response): Response {
  finish(visit, seat, { status: "succeeded", error: null, responseStatus: response.status })
  return new Response(body, response)
}

/** The body is small, but not here yet. */
async function passOnLate(
  visit: Visit,
  seat: Seat,
  response: Response,
  reading: Promise<Uint8Array<ArrayBuffer>>,
  deadlines: Deadlines,
): Promise<Response> {
  const expiry = Promise.withResolvers<undefined>()
  const expiresMs = performance.now() + visit.limits.streamMsMax
  const overseen = {
    check(nowMs: number) {
      if (nowMs > expiresMs) expiry.resolve(undefined)
      return nowMs > expiresMs
    },
  }
  unlimit(visit)
  deadlines.add(overseen)
  try {
    const bytes = await Promise.race([reading, expiry.promise])
    if (bytes) return complete(visit, seat, bytes, response)
    reading.catch(() => {})
    seat.stop("timed_out")
    return answerStopped(visit, seat, { kind: "stopped", status: "timed_out", error: tooSlow(visit) })
  } catch (error) {
    return answerStopped(visit, seat, { kind: "stopped", ...toBreak(visit, error) })
  } finally {
    deadlines.remove(overseen)
  }
}

function passOnStream(visit: Visit, seat: Seat, response: Response, deadlines: Deadlines): Response {
  const { status: responseStatus, body } = response
  if (!body) return complete(visit, seat, null, response)
  unlimit(visit)
  const succeed = () => finish(visit, seat, { status: "succeeded", error: null, responseStatus })
  const answer = new AnswerStream(
    body,
    {
      ended: succeed,
      // What was asked for was answered; how much of it the client wanted to read is its own affair.
      left: succeed,
      broke(error) {
        if (visit.seatRequest.signal?.aborted) return succeed()
        finish(visit, seat, { ...toBreak(visit, error), responseStatus })
      },
      expired() {
        seat.stop("timed_out")
        finish(visit, seat, { status: "timed_out", error: tooSlow(visit), responseStatus })
      },
    },
    deadlines,
    visit.limits,
  )
  // Others may be in the same process, so that cancelling the run does not end what it has begun to say.
  visit.run.signal.addEventListener("abort", () => answer.end(), { once: true })
  return new Response(answer.stream, response)
}

function toBreak(visit: Visit, error: unknown) {
  if (visit.run.isCancelled) return { status: "cancelled" as const, error: { name: "Cancelled", message: "The run was cancelled" } }
  if (visit.seatRequest.signal?.aborted)
    return { status: "cancelled" as const, error: { name: "Cancelled", message: "The client went away" } }
  const message = `The val broke off its answer: ${error instanceof Error ? error.message : String(error)}`
  return { status: "failed" as const, error: { name: "BrokenAnswer", message } }
}

function tooSlow(visit: Visit) {
  return { name: "TimedOut", message: `The answer took longer than ${visit.limits.streamMsMax / 1000} seconds and was ended` }
}
