import { ConnectionError } from "./errors.ts"
import type { FollowOptions, RunEvent } from "./follow-types.ts"
import type { PreparedRequest } from "./request.ts"
import { toRetryMs } from "./retry.ts"
import { type Received, type SendDeps, toInit } from "./send.ts"

/** Dependencies of following, beyond those of sending. */
export interface FollowDeps extends SendDeps {
  /** Throws the error of an error response. */
  refuse(request: PreparedRequest, received: Received): never
}

/**
 * Yields the events of a run until it ends. A lost connection is reopened after the last received
 * line.
 */
export async function* follow(
  deps: FollowDeps,
  request: PreparedRequest,
  from: number,
  options: FollowOptions,
): AsyncGenerator<RunEvent, void, void> {
  let next = from
  let attempt = 0
  for (;;) {
    try {
      for await (const event of readOnce(deps, request, next, options)) {
        attempt = 0
        yield event
        if (event.kind === "end") return
        next = event.index + 1
      }
      throw new ConnectionError(
        `Cannot follow "${request.url}": the stream ended before the run`,
        {},
      )
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!(error instanceof ConnectionError) || attempt >= deps.retriesMax) throw error
      await deps.clock.sleep(
        toRetryMs(undefined, attempt, deps.clock.now(), deps.random()),
        options.signal,
      )
      attempt += 1
    }
  }
}

/** Reads from one connection. */
async function* readOnce(
  deps: FollowDeps,
  request: PreparedRequest,
  next: number,
  { signal, timeoutMs = deps.timeoutMs }: FollowOptions,
): AsyncGenerator<RunEvent> {
  const attempt = new AbortController()
  const stop = () => attempt.abort()
  let timer = setTimeout(stop, timeoutMs)
  signal?.addEventListener("abort", stop, { once: true })
  try {
    const headers = new Headers(request.headers)
    headers.set("accept", "text/event-stream")
    if (next > 0) headers.set("last-event-id", String(next - 1))
    const init = toInit({ ...request, headers }, attempt.signal)
    const response = await reach(request, () => deps.fetch(request.url, init))
    if (!response.ok || !response.body) {
      const text = await reach(request, () => response.text())
      deps.refuse(request, { status: response.status, headers: response.headers, text })
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    for (;;) {
      const { done, value } = await reach(request, () => reader.read())
      if (done) return
      clearTimeout(timer)
      timer = setTimeout(stop, timeoutMs)
      const blocks = (text + value).split("\n\n")
      text = blocks.pop() ?? ""
      for (const block of blocks) yield* toEvents(block)
    }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", stop)
    attempt.abort()
  }
}

async function reach<T>(request: PreparedRequest, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new ConnectionError(`Cannot follow "${request.url}": the connection failed`, { cause })
  }
}

/** Skips comments, which only keep the connection alive, and events of later versions. */
function* toEvents(block: string): Generator<RunEvent> {
  const fields = new Map(block.split("\n").map((line) => toField(line)))
  const data = fields.get("data")
  if (data === undefined) return
  if (fields.get("event") === "log")
    yield { kind: "log", index: Number(fields.get("id")), line: JSON.parse(data) }
  if (fields.get("event") === "end") yield { kind: "end", ...JSON.parse(data) }
}

function toField(line: string): [name: string, value: string] {
  const colon = line.indexOf(":")
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
}
