import type { FollowEvent } from "../../domain/runs/follow-run.ts"
import { type ApiResponse, content } from "./api-response.ts"

/**
 * How long a stream is silent at most: proxies, and our own server, close what says nothing for a
 * minute.
 */
const heartbeatMs = 15_000

const encoder = new TextEncoder()
const heartbeat = encoder.encode(": still here\n\n")

/**
 * A stream of server-sent events. The next step is asked for when the client has room for it, so
 * that one who does not read costs no memory. `leave` ends the steps when the client has gone.
 */
export function eventStream(
  steps: AsyncGenerator<readonly FollowEvent[]>,
  leave: () => void,
  silenceMsMax = heartbeatMs,
): ApiResponse {
  let pending: Promise<IteratorResult<readonly FollowEvent[]>> | undefined
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        pending ??= steps.next()
        // What goes wrong on the way ends the stream; the client comes back with the id of the last
        // event and is told why.
        const step = await within(pending, silenceMsMax).catch(() => ({
          done: true as const,
          value: undefined,
        }))
        if (step === undefined) {
          controller.enqueue(heartbeat)
          return
        }
        pending = undefined
        if (step.done) controller.close()
        else controller.enqueue(encoder.encode(step.value.map(toText).join("")))
      },
      async cancel() {
        leave()
        await steps.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  return { ...content("text/event-stream; charset=utf-8", ""), stream }
}

function toText(event: FollowEvent): string {
  if (event.kind === "log")
    return `id: ${event.index}\nevent: log\ndata: ${JSON.stringify(event.line)}\n\n`
  return `event: end\ndata: ${JSON.stringify({ status: event.status, logsTruncated: event.logsTruncated })}\n\n`
}

/** Undefined when it takes longer. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: Timer | undefined
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
