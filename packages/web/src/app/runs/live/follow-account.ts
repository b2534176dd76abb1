import { ApiError, type Item, type Output } from "@hamlet/contract/client"
import { type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { api } from "../../api.ts"
import { isConnectionError } from "../../data/explain.ts"
import { pause } from "../../data/pause.ts"
import { appendLines, emptyLog, type LiveLine, type LiveLog, mergeLines } from "./live-log.ts"

/** Whether the stream is open. `lost`: it is being opened again. */
export type LiveState =
  | { readonly kind: "opening" | "open" | "lost" }
  | { readonly kind: "failed"; readonly error: unknown }

const limits = {
  reconnectMs: 1_000,
  /** Lines are shown a few times per second, however many arrive. */
  showMs: 100,
  pendingMax: 1_000,
  /** Lines are written late: what was missed is read once more after this time. */
  settleMs: 3_000,
  failuresRead: 20,
}

/** Follows the logs of the account for as long as the component is there. */
export function useLiveLogs(): LiveLogs {
  const logs = useMemo(() => new LiveLogs(), [])
  useEffect(() => {
    logs.start()
    return () => logs.stop()
  }, [logs])
  return logs
}

/** The logs of the account, as they are written. */
export class LiveLogs {
  readonly #log: Signal<LiveLog> = signal(emptyLog)
  readonly #state: Signal<LiveState> = signal({ kind: "opening" })
  readonly #skipped = signal(0)
  #pending: LiveLine[] = []
  #showing: ReturnType<typeof setTimeout> | undefined
  #settling: ReturnType<typeof setTimeout> | undefined
  #stopping = new AbortController()

  get log(): ReadonlySignal<LiveLog> {
    return this.#log
  }

  get state(): ReadonlySignal<LiveState> {
    return this.#state
  }

  /** The number of events that were not sent, because there were too many. */
  get skipped(): ReadonlySignal<number> {
    return this.#skipped
  }

  /** Follows until `stop`, across restarts of the server; also after it has failed. */
  start(): void {
    this.stop()
    this.#stopping = new AbortController()
    this.#state.value = { kind: "opening" }
    void this.#follow(this.#stopping.signal)
  }

  stop(): void {
    this.#stopping.abort()
    clearTimeout(this.#settling)
    this.#show()
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const event of api.followAccount({ signal })) {
          if (event.kind === "open") await this.#open(signal)
          else if (event.kind === "skipped") this.#skipped.value += event.events
          else if (event.kind === "log") this.#add({ ...event.line, ...toOrigin(event) })
          else if (event.run.error) this.#add(toFailureLine(event.run))
        }
        // The server closes it from time to time.
      } catch (error) {
        if (signal.aborted) return
        if (!isTemporary(error)) {
          this.#state.value = { kind: "failed", error }
          return
        }
        this.#state.value = { kind: "lost" }
      }
      await pause(limits.reconnectMs, signal)
    }
  }

  /** The stream is open: reads what was logged before. */
  async #open(signal: AbortSignal): Promise<void> {
    await this.#readLatest(signal)
    if (signal.aborted) return
    this.#state.value = { kind: "open" }
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => {
      // If it fails, the stream is lost too, and what is missing is read when it is open again.
      this.#readLatest(signal).catch(() => {})
    }, limits.settleMs)
  }

  async #readLatest(signal: AbortSignal): Promise<void> {
    const [logs, failures] = await Promise.all([
      api.listMyLogs({}, { signal }),
      api.listMyRuns({ error: true, limit: limits.failuresRead }, { signal }),
    ])
    if (signal.aborted) return
    this.#show()
    this.#log.value = mergeLines(this.#log.peek(), [
      ...logs.data.map((entry) => ({ ...entry.line, ...toOrigin(entry) })),
      ...failures.data.filter(({ error }) => error !== null).map(toFailureLine),
    ])
  }

  #add(line: LiveLine): void {
    this.#pending.push(line)
    if (this.#pending.length >= limits.pendingMax) this.#show()
    else this.#showing ??= setTimeout(() => this.#show(), limits.showMs)
  }

  #show(): void {
    clearTimeout(this.#showing)
    this.#showing = undefined
    if (this.#pending.length === 0) return
    const lines = this.#pending
    this.#pending = []
    this.#log.value = appendLines(this.#log.peek(), lines)
  }
}

type Entry = Output<"listMyLogs">["data"][number]

function toOrigin({ runId, val }: Pick<Entry, "runId" | "val">): Pick<LiveLine, "runId" | "val"> {
  return { runId, val: { username: val.username, name: val.name } }
}

/** The error of a run as a line: it may have logged nothing. */
function toFailureLine(run: Item<"listMyRuns">): LiveLine {
  const { id, val, status, error, runEndAt, runStartAt } = run
  return {
    at: runEndAt ?? runStartAt,
    level: "error",
    message: `Run ${status.replace("_", " ")}: ${error?.name}: ${error?.message}`,
    ...toOrigin({ runId: id, val }),
  }
}

/** The server does not respond, is shutting down, or something before it responds for it. */
function isTemporary(error: unknown): boolean {
  return isConnectionError(error) || (error instanceof ApiError && error.status >= 500)
}
