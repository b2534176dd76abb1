import { brokenAnswer, type Seat, type ValAnswer } from "../../domain/runs/runner.ts"
import type { Deadlines } from "../deadlines.ts"
import { answerBroken, answerStopped, finish, unlimit, type Visit } from "../request-context.ts"
import { prepareAnswerHeaders } from "./response-headers.ts"
import { AnswerStream } from "./response-stream.ts"

/** Statuses whose answers have no body, whatever their headers say. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/** Passes the val's answer on to the client. The run is over when the answer is. */
export function passOn(visit: Visit, seat: Seat, answer: ValAnswer, deadlines: Deadlines): Response | Promise<Response> {
  const { status, body } = answer
  const { limits } = visit
  const head = prepareAnswerHeaders(answer.headers, visit.run.id, limits.answerHeaderBytesMax)
  if (status < 200 || status > 599 || !head) {
    drop(body)
    const message = head
      ? `The val answered with status ${status}`
      : `The headers of the answer have more than ${limits.answerHeaderBytesMax} bytes`
    return answerBroken(visit, seat, message)
  }
  const { headers, length, hasType } = head
  // Wherever a link leads to, it would be told the host that it is on.
  if (visit.isByPass && !headers.has("referrer-policy")) headers.set("referrer-policy", "no-referrer")
  const isBodiless = body === null || visit.request.method === "HEAD" || bodiless.has(status) || length === 0
  // Of bytes that are all here Bun says itself how many there are.
  if (hasType && !isBodiless && body instanceof Uint8Array) return complete(visit, seat, body, { status, headers })
  if (length !== undefined) headers.set("content-length", String(length))
  if (isBodiless) {
    drop(body)
    return complete(visit, seat, null, { status, headers })
  }
  // Bun would make up a type for bytes without one, so that a browser no longer looked at what they are.
  const isWhole = hasType && body instanceof ReadableStream && length !== undefined && length <= limits.wholeAnswerBytesMax
  if (!isWhole) return passOnStream(visit, seat, toStream(body), { status, headers }, deadlines)
  return passOnLate(visit, seat, body, { status, headers }, deadlines)
}

interface Head {
  readonly status: number
  readonly headers: Headers
}

function drop(body: ValAnswer["body"]): void {
  if (body instanceof ReadableStream) body.cancel().catch(() => {})
}

function toStream(body: Uint8Array | ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  if (body instanceof ReadableStream) return body
  return new ReadableStream({
    start(controller) {
      controller.enqueue(body)
      controller.close()
    },
  })
}

function complete(visit: Visit, seat: Seat, body: Uint8Array | null, head: Head): Response {
  finish(visit, seat, { status: "succeeded", error: null, responseStatus: head.status })
  return new Response(body as Uint8Array<ArrayBuffer> | null, head)
}

/** The body is small, but not here yet. */
async function passOnLate(visit: Visit, seat: Seat, body: ReadableStream<Uint8Array>, head: Head, deadlines: Deadlines): Promise<Response> {
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
  // It is no longer than its head says: whoever reads it sees to that.
  const reading = new Response(body).bytes()
  try {
    const bytes = await Promise.race([reading, expiry.promise])
    if (bytes) return complete(visit, seat, bytes, head)
    reading.catch(() => {})
    seat.stop("timed_out")
    return answerStopped(visit, seat, { kind: "stopped", status: "timed_out", error: tooSlow(visit) })
  } catch (error) {
    return answerStopped(visit, seat, { kind: "stopped", ...toBreak(visit, error) })
  } finally {
    deadlines.remove(overseen)
  }
}

function passOnStream(visit: Visit, seat: Seat, body: ReadableStream<Uint8Array>, head: Head, deadlines: Deadlines): Response {
  const { status: responseStatus } = head
  unlimit(visit)
  const succeed = () => finish(visit, seat, { status: "succeeded", error: null, responseStatus })
  const answer = new AnswerStream(
    body,
    {
      ended: succeed,
      // What was asked for was answered; how much of it the client wanted to read is its own affair.
      left: succeed,
      broke(error) {
        if (visit.request.signal.aborted) return succeed()
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
  return new Response(answer.stream, head)
}

function toBreak(visit: Visit, error: unknown) {
  if (visit.run.isCancelled) return { status: "cancelled" as const, error: { name: "Cancelled", message: "The run was cancelled" } }
  if (visit.request.signal.aborted) return { status: "cancelled" as const, error: { name: "Cancelled", message: "The client went away" } }
  const message = `The val broke off its answer: ${error instanceof Error ? error.message : String(error)}`
  return { status: "failed" as const, error: { name: brokenAnswer, message } }
}

function tooSlow(visit: Visit) {
  return { name: "TimedOut", message: `The answer took longer than ${visit.limits.streamMsMax / 1000} seconds and was ended` }
}
