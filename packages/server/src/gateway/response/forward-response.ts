import { brokenResponse, type RunSlot, type ValResponse } from "../../domain/runs/runner.ts"
import type { Deadlines } from "../deadlines.ts"
import {
  finish,
  type RequestContext,
  respondBroken,
  respondStopped,
  unlimit,
} from "../request-context.ts"
import { prepareResponseHeaders } from "./response-headers.ts"
import { ResponseStream } from "./response-stream.ts"

/** Statuses whose answers have no body, whatever their headers say. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/** Passes the val's answer on to the client. The run is over when the answer is. */
export function forwardResponse(
  context: RequestContext,
  slot: RunSlot,
  answer: ValResponse,
  deadlines: Deadlines,
): Response | Promise<Response> {
  const { status, body } = answer
  const { limits } = context
  const head = prepareResponseHeaders(answer.headers, context.run.id, limits.answerHeaderBytesMax)
  if (status < 200 || status > 599 || !head) {
    drop(body)
    const message = head
      ? `The val answered with status ${status}`
      : `The headers of the answer have more than ${limits.answerHeaderBytesMax} bytes`
    return respondBroken(context, slot, message)
  }
  const { headers, length, hasType } = head
  // Wherever a link leads to, it would be told the host that it is on.
  if (context.isByPass && !headers.has("referrer-policy"))
    headers.set("referrer-policy", "no-referrer")
  const isBodiless =
    body === null || context.request.method === "HEAD" || bodiless.has(status) || length === 0
  // Of bytes that are all here Bun says itself how many there are.
  if (hasType && !isBodiless && body instanceof Uint8Array)
    return complete(context, slot, body, { status, headers })
  if (length !== undefined) headers.set("content-length", String(length))
  if (isBodiless) {
    drop(body)
    return complete(context, slot, null, { status, headers })
  }
  // Bun would make up a type for bytes without one, so that a browser no longer looked at what they
  // are.
  const isWhole =
    hasType &&
    body instanceof ReadableStream &&
    length !== undefined &&
    length <= limits.wholeAnswerBytesMax
  if (!isWhole) return passOnStream(context, slot, toStream(body), { status, headers }, deadlines)
  return passOnLate(context, slot, body, { status, headers }, deadlines)
}

interface Head {
  readonly status: number
  readonly headers: Headers
}

function drop(body: ValResponse["body"]): void {
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

function complete(
  context: RequestContext,
  slot: RunSlot,
  body: Uint8Array | null,
  head: Head,
): Response {
  finish(context, slot, { status: "succeeded", error: null, responseStatus: head.status })
  return new Response(body as Uint8Array<ArrayBuffer> | null, head)
}

/** The body is small, but not here yet. */
async function passOnLate(
  context: RequestContext,
  slot: RunSlot,
  body: ReadableStream<Uint8Array>,
  head: Head,
  deadlines: Deadlines,
): Promise<Response> {
  const expiry = Promise.withResolvers<undefined>()
  const expiresMs = performance.now() + context.limits.streamMsMax
  const overseen = {
    check(nowMs: number) {
      if (nowMs > expiresMs) expiry.resolve(undefined)
      return nowMs > expiresMs
    },
  }
  unlimit(context)
  deadlines.add(overseen)
  // It is no longer than its head says: whoever reads it sees to that.
  const reading = new Response(body).bytes()
  try {
    const bytes = await Promise.race([reading, expiry.promise])
    if (bytes) return complete(context, slot, bytes, head)
    reading.catch(() => {})
    slot.stop("timed_out")
    return respondStopped(context, slot, {
      kind: "stopped",
      status: "timed_out",
      error: tooSlow(context),
    })
  } catch (error) {
    return respondStopped(context, slot, { kind: "stopped", ...toBreak(context, error) })
  } finally {
    deadlines.remove(overseen)
  }
}

function passOnStream(
  context: RequestContext,
  slot: RunSlot,
  body: ReadableStream<Uint8Array>,
  head: Head,
  deadlines: Deadlines,
): Response {
  const { status: responseStatus } = head
  unlimit(context)
  const succeed = () => finish(context, slot, { status: "succeeded", error: null, responseStatus })
  const answer = new ResponseStream(
    body,
    {
      ended: succeed,
      // What was asked for was answered; how much of it the client wanted to read is its own
      // affair.
      left: succeed,
      broke(error) {
        if (context.request.signal.aborted) return succeed()
        finish(context, slot, { ...toBreak(context, error), responseStatus })
      },
      expired() {
        slot.stop("timed_out")
        finish(context, slot, { status: "timed_out", error: tooSlow(context), responseStatus })
      },
    },
    deadlines,
    context.limits,
  )
  // Others may be in the same process, so that cancelling the run does not end what it has begun to
  // say.
  context.run.signal.addEventListener("abort", () => answer.end(), { once: true })
  return new Response(answer.stream, head)
}

function toBreak(context: RequestContext, error: unknown) {
  if (context.run.isCancelled)
    return {
      status: "cancelled" as const,
      error: { name: "Cancelled", message: "The run was cancelled" },
    }
  if (context.request.signal.aborted)
    return {
      status: "cancelled" as const,
      error: { name: "Cancelled", message: "The client went away" },
    }
  const message = `The val broke off its answer: ${error instanceof Error ? error.message : String(error)}`
  return { status: "failed" as const, error: { name: brokenResponse, message } }
}

function tooSlow(context: RequestContext) {
  return {
    name: "TimedOut",
    message: `The answer took longer than ${context.limits.streamMsMax / 1000} seconds and was ended`,
  }
}
