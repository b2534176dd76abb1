import { orLate, toOwnJson } from "@hamlet/kit"
import type { AccountEvent } from "../../domain/runs/follow/follow-account.ts"
import type { FollowEvent } from "../../domain/runs/follow/follow-run.ts"
import { type ApiResponse, content, toBodyStream } from "./api-response.ts"
import { toAccountLogView, toRunView } from "./views.ts"

/** Interval of heartbeats: proxies, and this server, close connections without traffic. */
const heartbeatMs = 15_000

const encoder = new TextEncoder()
const heartbeat = encoder.encode(": still here\n\n")
const ended = { done: true, value: undefined } as const

/** A stream of server-sent events. `onCancel` is called when the client disconnects. */
export function eventStream<Event>(
  batches: AsyncGenerator<readonly Event[]>,
  toText: (event: Event) => string,
  onCancel: () => void,
  silenceMsMax = heartbeatMs,
): ApiResponse {
  let pending: Promise<IteratorResult<readonly Event[]>> | undefined
  const next = async () => {
    pending ??= batches.next()
    // An error ends the stream; the client reconnects with `last-event-id` and then gets it.
    const batch = await orLate(pending, silenceMsMax, () => undefined).catch(() => ended)
    if (batch === undefined) return heartbeat
    pending = undefined
    return batch.done ? undefined : encoder.encode(batch.value.map(toText).join(""))
  }
  const cancel = () => {
    onCancel()
    return batches.return(undefined)
  }
  const stream = toBodyStream(next, cancel, () => {})
  return { ...content("text/event-stream; charset=utf-8", ""), stream }
}

/** An event of a run. */
export function toRunEventText(event: FollowEvent): string {
  if (event.kind === "log")
    return `id: ${event.index}\nevent: log\ndata: ${toOwnJson(event.line)}\n\n`
  return `event: end\ndata: ${toOwnJson({ status: event.status, logsTruncated: event.logsTruncated })}\n\n`
}

/** An event of an account. */
export function toAccountEventText(event: AccountEvent): string {
  if (event.kind === "open") return "event: open\ndata: {}\n\n"
  if (event.kind === "skipped")
    return `event: skipped\ndata: ${toOwnJson({ events: event.events })}\n\n`
  if (event.kind === "end") return `event: end\ndata: ${toOwnJson(toRunView(event.run))}\n\n`
  return `event: log\ndata: ${toOwnJson(toAccountLogView(event))}\n\n`
}
