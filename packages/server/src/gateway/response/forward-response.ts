import type { HeaderList } from "@hamlet/http1"
import type { Watchdog } from "@hamlet/kit"
import {
  brokenResponse,
  cancelledError,
  disconnectedError,
  type ProgramResponse,
  type RunSlot,
} from "@hamlet/sandbox"
import type { RunEnd } from "../../domain/runs/live-runs.ts"
import { mayHaveScript, toScriptedHeaders } from "../page-console/page-headers.ts"
import { insertIntoPage, insertIntoStream } from "../page-console/script-inserter.ts"
import {
  disableIdleTimeout,
  finish,
  onCancel,
  type RequestContext,
  respondBroken,
  respondStopped,
} from "../request-context.ts"
import { prepareResponseHeaders } from "./response-headers.ts"
import { ResponseStream } from "./response-stream.ts"

/** Statuses of responses without a body, regardless of their headers. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/** Forwards the val's response to the client. The run ends with the response. */
export function forwardResponse(
  context: RequestContext,
  slot: RunSlot,
  response: ProgramResponse,
  deadlines: Watchdog,
): Response | Promise<Response> {
  const { status, body, headers: given } = response
  const { limits } = context
  const head = prepareResponseHeaders(given, context.run.id, limits.responseHeaderBytesMax)
  if (status < 200 || status > 599 || !head) {
    discard(body)
    const message = head
      ? `The response of the val has status ${status}`
      : `The headers of the response are larger than ${limits.responseHeaderBytesMax} bytes`
    return respondBroken(context, slot, message)
  }
  const { headers, length, hasType } = head
  // Otherwise a link on the page would send the pass to another site in `Referer`.
  if (context.isByPass && !headers.has("referrer-policy"))
    headers.set("referrer-policy", "no-referrer")
  const isBodiless =
    body === null || context.request.method === "HEAD" || bodiless.has(status) || length === 0
  const script = !isBodiless && mayHaveScript(status, headers) ? context.scriptTag : undefined
  if (script) toScriptedHeaders(headers)
  // Bun sends the length of a complete body itself.
  if (hasType && !isBodiless && body instanceof Uint8Array)
    return complete(context, slot, body, { status, headers, given, script })
  if (length !== undefined && !script) headers.set("content-length", String(length))
  // Bun would state a length of 0, although a GET may have a body.
  else if (context.request.method === "HEAD" && !bodiless.has(status))
    headers.set("transfer-encoding", "chunked")
  if (isBodiless) {
    discard(body)
    return complete(context, slot, null, { status, headers, given, script })
  }
  // A body without a type is streamed: Bun would add a type to bytes, and browsers would not sniff it.
  const isWhole =
    hasType &&
    body instanceof ReadableStream &&
    length !== undefined &&
    length <= limits.wholeResponseBytesMax
  return isWhole
    ? forwardWhole(context, slot, body, { status, headers, given, script }, deadlines)
    : forwardStream(context, slot, toStream(body), { status, headers, given, script }, deadlines)
}

interface Head {
  readonly status: number
  readonly headers: Headers
  /** The headers as the val has sent them, for the record. */
  readonly given: HeaderList
  /** The tag that is inserted into the page, and is no part of the record. */
  readonly script: Uint8Array | undefined
}

function discard(body: ProgramResponse["body"]): void {
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
  const { status: responseStatus, headers, given, script } = head
  const { valId } = context.run
  const response = context.responses.keep(
    { valId, status: responseStatus, headers: given, body },
    slot.mask,
  )
  finish(context, slot, { status: "succeeded", error: null, responseStatus, response })
  const sent = body && script ? insertIntoPage(body, script) : body
  return new Response(sent as Uint8Array<ArrayBuffer> | null, { status: responseStatus, headers })
}

/** Waits for a small body before it responds. */
async function forwardWhole(
  context: RequestContext,
  slot: RunSlot,
  body: ReadableStream<Uint8Array>,
  head: Head,
  deadlines: Watchdog,
): Promise<Response> {
  const expiry = Promise.withResolvers<undefined>()
  const expiresMs = performance.now() + context.limits.streamMsMax
  const deadline = {
    check(nowMs: number) {
      if (nowMs > expiresMs) expiry.resolve(undefined)
      return nowMs > expiresMs
    },
  }
  disableIdleTimeout(context)
  deadlines.add(deadline)
  // The reader of the val's response ends it at its content-length, so its size is bounded.
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
    deadlines.remove(deadline)
  }
}

function forwardStream(
  context: RequestContext,
  slot: RunSlot,
  body: ReadableStream<Uint8Array>,
  head: Head,
  deadlines: Watchdog,
): Response {
  const { status: responseStatus, headers, given, script } = head
  disableIdleTimeout(context)
  const sample = context.responses.createSample(given)
  const end = (outcome: Pick<RunEnd, "status" | "error">) => {
    const ended = { valId: context.run.valId, status: responseStatus, headers: given }
    const response = sample && context.responses.keep({ ...ended, body: sample }, slot.mask)
    finish(context, slot, { ...outcome, responseStatus, response: response ?? null })
  }
  const succeed = () => end({ status: "succeeded", error: null })
  const forwarded = new ResponseStream(
    body,
    {
      ended() {
        if (sample) sample.isComplete = true
        succeed()
      },
      // The val has responded; a client may stop reading at any time.
      left: succeed,
      broke(error) {
        if (context.request.signal.aborted) return succeed()
        end(toBreak(context, error))
      },
      expired() {
        slot.stop("timed_out")
        end({ status: "timed_out", error: tooSlow(context) })
      },
    },
    deadlines,
    context.limits,
    sample,
  )
  // Cancelling a run does not end its process when other runs share it, so the stream is ended here.
  onCancel(context, () => forwarded.end())
  const { stream } = forwarded
  const sent = script ? insertIntoStream(stream, script) : stream
  return new Response(sent, { status: responseStatus, headers })
}

function toBreak(context: RequestContext, error: unknown) {
  if (context.run.isCancelled) return { status: "cancelled" as const, error: cancelledError }
  if (context.request.signal.aborted)
    return { status: "cancelled" as const, error: disconnectedError }
  const message = `The response of the val ended early: ${error instanceof Error ? error.message : String(error)}`
  return { status: "failed" as const, error: { name: brokenResponse, message } }
}

function tooSlow(context: RequestContext) {
  return {
    name: "TimedOut",
    message: `The response took longer than ${context.limits.streamMsMax / 1000} seconds and was ended`,
  }
}
