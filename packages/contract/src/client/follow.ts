import { ApiError, ConnectionError } from "./errors.ts"
import { clientLimits } from "./limits.ts"
import { readText, toTooLarge } from "./read-text.ts"
import type { PreparedRequest } from "./request.ts"
import { toRetryMs } from "./retry.ts"
import { type Received, type SendDeps, toInit } from "./send.ts"
import type { AccountEvent, FollowOptions, RunEvent } from "./types.ts"

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
      const headers: Record<string, string> = next > 0 ? { "last-event-id": String(next - 1) } : {}
      for await (const fields of readEvents(deps, request, headers, options)) {
        attempt = 0
        const event = toRunEvent(fields)
        if (!event) continue
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

/** Yields the events of an account until the server closes the connection. */
export async function* followAccount(
  deps: FollowDeps,
  request: PreparedRequest,
  options: FollowOptions,
): AsyncGenerator<AccountEvent, void, void> {
  try {
    for await (const fields of readEvents(deps, request, {}, options)) {
      const event = toAccountEvent(fields)
      if (event) yield event
    }
    options.signal?.throwIfAborted()
  } catch (error) {
    options.signal?.throwIfAborted()
    throw error
  }
}

/** The fields of an event: `event`, `id` and `data`. */
type Fields = ReadonlyMap<string, string>

/** Reads from one connection. Comments, which only keep it alive, are skipped. */
async function* readEvents(
  deps: FollowDeps,
  request: PreparedRequest,
  extra: Readonly<Record<string, string>>,
  { signal, timeoutMs = deps.timeoutMs }: FollowOptions,
): AsyncGenerator<Fields> {
  const attempt = new AbortController()
  const stop = () => attempt.abort()
  let timer = setTimeout(stop, timeoutMs)
  signal?.addEventListener("abort", stop, { once: true })
  try {
    const headers = new Headers(request.headers)
    headers.set("accept", "text/event-stream")
    for (const [name, value] of Object.entries(extra)) headers.set(name, value)
    const init = toInit({ ...request, headers }, attempt.signal)
    const response = await reach(request, () => deps.fetch(request.url, init))
    if (!response.ok || !response.body) {
      const text = await reach(request, () =>
        readText(response, deps.responseBytesMax, `follow "${request.url}"`),
      )
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
      if (text.length > clientLimits.eventCharsMax)
        throw toTooLarge(response, clientLimits.eventCharsMax, `follow "${request.url}"`)
      for (const block of blocks) {
        const fields = new Map(block.split("\n").map((line) => toField(line)))
        if (fields.has("data")) yield fields
      }
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
    if (cause instanceof ApiError) throw cause
    throw new ConnectionError(`Cannot follow "${request.url}": the connection failed`, { cause })
  }
}

/** Undefined for an event of a later version. */
function toRunEvent(fields: Fields): RunEvent | undefined {
  const kind = fields.get("event")
  if (kind === "log") return { kind, index: Number(fields.get("id")), line: parseData(fields) }
  return kind === "end" ? { kind, ...parseData(fields) } : undefined
}

/** Undefined for an event of a later version. */
function toAccountEvent(fields: Fields): AccountEvent | undefined {
  const kind = fields.get("event")
  if (kind === "end") return { kind, run: parseData(fields) }
  return kind === "open" || kind === "log" || kind === "skipped"
    ? { kind, ...parseData(fields) }
    : undefined
}

function parseData(fields: Fields) {
  return JSON.parse(fields.get("data") ?? "{}")
}

function toField(line: string): [name: string, value: string] {
  const colon = line.indexOf(":")
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
}
