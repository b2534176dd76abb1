import { limits as wire } from "@hamlet/contract"
import {
  currentWork,
  type Tracer,
  type TraceSpan,
  truncateError,
  truncateMeasured,
  type Work,
} from "@hamlet/kit"
import {
  brokenResponse,
  type OutgoingRequest,
  type RunListener,
  type RunSlot,
} from "@hamlet/sandbox"
import { addRequest, type RunEgress } from "../egress.ts"
import type { CodeFile } from "../vals/vals.ts"
import type { AdoptedRun, NewRun, RunClaim } from "./new-run.ts"
import { RunLog, toLastLine } from "./run-log.ts"
import { RunSpans } from "./run-spans.ts"
import type {
  LogGap,
  LogLine,
  RunError,
  RunInput,
  RunMessage,
  RunRecord,
  RunRequest,
  RunSource,
  RunStatus,
} from "./runs.ts"

/** How a run ended. */
export interface RunEnd {
  readonly status: "succeeded" | "failed" | "timed_out" | "cancelled" | "crashed"
  readonly error: RunError | null
  readonly returnValue?: unknown
  readonly responseStatus?: number
  /** What is kept of the response of an http val. */
  readonly response?: RunMessage | null
  /** Whether another attempt would fail in the same way. */
  readonly isFinal?: boolean
}

/** The events that subscribers of a run receive. */
export type LiveEvent =
  | { readonly kind: "log"; readonly index: number; readonly line: LogLine }
  | { readonly kind: "end"; readonly status: RunStatus }

/** A run of this process, from its start until its end is on disk. */
export interface LiveRun extends RunListener {
  readonly accountId: string
  readonly valId: string
  readonly startedAt: number
  readonly endedAt: number | null
  /** This attempt has failed, and the run is in the queue again. */
  readonly isRetried: boolean
  /** The run was taken from this node: nothing that it does is recorded any more. */
  readonly isLost: boolean
  readonly status: RunStatus
  readonly logs: readonly LogLine[]
  readonly logsTruncated: boolean
  readonly logGap: LogGap | null
  /** The number of lines that were logged, also those that are not kept. */
  readonly logTotal: number
  readonly isCancelled: boolean
  /** Aborted when the run is cancelled. Created on first access. */
  readonly signal: AbortSignal
  /** Sets the slot in which it runs, which `cancel` stops. */
  attach(slot: RunSlot): void
  /** Records that a WebSocket is open: its response has begun, and the run goes on. */
  noteSocketOpen(): void
  cancel(): void
  /** Stops the run without recording anything: it was taken from this node. */
  lose(): void
  /** Ends the run; later calls are ignored. An uncaught error makes a success a failure. */
  finish(end: RunEnd): void
  /** Resolves when the current state is on disk; rejects if the write fails, but it is retried. */
  settled(): Promise<void>
  /** Returns a function that unsubscribes. */
  subscribe(listener: (event: LiveEvent) => void): () => void
}

/** How much of a run is recorded. */
export const runSizes = {
  valueBytesMax: wire.runValueBytesMax as number,
  logBytesMax: wire.runLogBytesMax as number,
  /** Outgoing requests that are listed; further ones are only counted. */
  outgoingMax: 50,
}

export type RunSizes = Readonly<typeof runSizes>

/** Receives the events of all runs on an account. */
export type RunWatcher = (run: RecordedRun, event: LiveEvent) => void

/** Writes runs to disk. */
export interface RunPersistence {
  /** By account. */
  readonly watchers: ReadonlyMap<string, ReadonlySet<RunWatcher>>
  readonly nodeId: string
  readonly sizes: RunSizes
  now(): number
  /** Undefined where traces are off. */
  readonly tracer: Tracer | undefined
  /** The run has changed since it was last written. */
  noteChange(run: RecordedRun): void
  /** The run has ended. */
  noteEnd(run: RecordedRun): void
  /** Writes the run without waiting for the next batch. */
  flush(run: RecordedRun): Promise<void>
}

const noLogs: readonly LogLine[] = []

/** A live run and its record in one object, since there are thousands per second. */
export class RecordedRun implements LiveRun, RunRecord {
  readonly id: string
  readonly valId: string
  readonly file: CodeFile | null
  readonly version: number
  readonly accountId: string
  readonly ownerId: string
  readonly parentId: string | null
  readonly depth: number
  readonly source: RunSource
  startedAt: number
  readonly input: RunInput | null
  readonly work: Work | undefined
  readonly #spans: RunSpans | undefined
  /** Its status is set when the response begins. */
  readonly request: { -readonly [Field in keyof RunRequest]: RunRequest[Field] } | null
  readonly #keeper: RunPersistence
  readonly args: unknown
  /** True for runs through the API, which are never dropped. */
  readonly isKept: boolean
  status: RunStatus
  endedAt: number | null = null
  error: RunError | null = null
  returnValue: unknown = null
  response: RunMessage | null = null
  egress: RunEgress | null = null
  isCancelled = false
  isLost = false
  claim: RunClaim | undefined
  begin: ((slot: RunSlot) => Promise<void>) | undefined
  /** Its end is on disk. */
  isEndWritten = false
  /** In the recorder's list of new runs: not on disk yet. */
  isFresh = false
  isChanged = false
  isWriting = false
  /** The run has left the queue, which is not on disk yet. */
  hasBegun = false
  writtenAt = 0
  #log: RunLog | undefined
  /** The characters of the arguments and the return value. */
  #valueChars = 0
  #isIncomplete = false
  #slot: RunSlot | undefined
  #abort: AbortController | undefined
  #listeners: Set<(event: LiveEvent) => void> | undefined

  constructor(run: NewRun, keeper: RunPersistence, isKept: boolean) {
    this.id = run.id
    this.valId = run.valId
    this.file = run.file ?? null
    this.version = run.version
    this.accountId = run.accountId
    this.ownerId = run.ownerId
    this.parentId = run.parentId
    this.depth = run.depth
    this.source = run.source
    this.startedAt = run.startedAt
    this.input = run.input
    const { tracer } = keeper
    this.#spans = tracer && new RunSpans(tracer, run)
    this.work = this.#spans?.work ?? run.work ?? currentWork()
    this.request = run.request && {
      method: run.request.method,
      url: run.request.url,
      status: null,
    }
    this.#keeper = keeper
    this.isKept = isKept
    this.status = isKept ? "queued" : "running"
    this.args = run.args === null ? null : this.#keep(run.args)
  }

  /** Continues a run of the queue, which is on disk. */
  adopt(run: AdoptedRun): void {
    const { fence, attempt, retries, delayOf, noteBegin, logs, logsTruncated, logGap } = run
    this.claim = { fence, attempt, retries, delayOf, noteBegin, retryMs: undefined }
    if (logs.length > 0 || logsTruncated) this.#openLog().restore(logs, logGap, logsTruncated)
    this.writtenAt = this.#keeper.now()
    this.begin = async (slot) => {
      this.attach(slot)
      await noteBegin()
      // `noteBegin` also succeeds if this node was declared gone and has come back in between.
      if (this.isLost) throw new Error(`Run ${this.id} was taken from this node`)
    }
  }

  get span(): TraceSpan | undefined {
    return this.#spans?.span
  }

  get isRetried(): boolean {
    return this.claim?.retryMs !== undefined
  }

  /** Null when the run has ended, so that most runs are written without a node. */
  get nodeId(): string | null {
    return this.endedAt === null ? this.#keeper.nodeId : null
  }
  get logs(): readonly LogLine[] {
    return this.#log?.lines ?? noLogs
  }
  get logsTruncated(): boolean {
    return this.#log?.isTruncated ?? false
  }
  get logGap(): LogGap | null {
    return this.#log?.gap ?? null
  }
  get logTotal(): number {
    return this.#log?.total ?? 0
  }
  get lastLine(): string | null {
    const line = this.#log?.lines.at(-1)
    return line ? toLastLine(line) : null
  }
  /** The approximate size in memory. */
  get bytes(): number {
    const { input, error, egress, response } = this
    const errorChars =
      error === null ? 0 : error.name.length + error.message.length + (error.stack?.length ?? 0)
    const urlChars = egress === null ? 0 : egress.list.reduce((sum, { url }) => sum + url.length, 0)
    const texts = this.#valueChars + countInputChars(input) + (response?.body?.length ?? 0)
    return 1_000 + (this.#log?.bytes ?? 0) + texts + errorChars + urlChars
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.isCancelled) this.#abort.abort()
    return this.#abort.signal
  }

  get logBytesLeft(): number {
    return this.#openLog().lineBytesMax
  }

  log(line: LogLine): void {
    const log = this.#openLog()
    const kept = log.add(line)
    this.#keeper.noteChange(this)
    this.#emit({ kind: "log", index: log.total - 1, line: kept })
  }

  #openLog(): RunLog {
    this.#log ??= new RunLog(this.#keeper.sizes.logBytesMax, () => this.#keeper.now())
    return this.#log
  }

  skipLogs(lines: number): void {
    this.#openLog().skip(lines)
    this.#keeper.noteChange(this)
  }

  fail(error: RunError): void {
    // An incomplete response is the effect of an error that arrives a moment later and says more.
    const isExplained = this.error !== null && !this.#isIncomplete
    if (
      isExplained ||
      (this.endedAt !== null && this.status !== "succeeded" && !this.#isIncomplete)
    )
      return
    this.#isIncomplete = false
    this.error = truncateError(error, this.#keeper.sizes.valueBytesMax)
    if (this.endedAt !== null) this.status = "failed"
    this.#keeper.noteChange(this)
  }

  get listsRequests(): boolean {
    return (this.egress?.list.length ?? 0) < this.#keeper.sizes.outgoingMax
  }

  sent(request: OutgoingRequest): void {
    this.egress = addRequest(this.egress, request, this.listsRequests)
    if (this.work) this.work.egressMs += request.durationMs
    this.#keeper.noteChange(this)
  }

  attach(slot: RunSlot): void {
    this.#slot = slot
    if (this.isCancelled) slot.stop("cancelled")
    this.#spans?.begin(this.claim ? this.#keeper.now() - this.startedAt : 0)
    if (this.status !== "queued") return
    this.status = "running"
    // A run of the queue may have waited for long.
    if (this.claim) this.startedAt = this.#keeper.now()
    this.hasBegun = true
    this.#keeper.noteChange(this)
  }

  noteSocketOpen(): void {
    if (!this.request || this.endedAt !== null) return
    this.request.status = 101
    this.#keeper.noteChange(this)
  }

  cancel(): void {
    if (this.isCancelled || this.endedAt !== null) return
    this.isCancelled = true
    this.#abort?.abort()
    this.#slot?.stop("cancelled")
  }

  lose(): void {
    if (this.isLost) return
    this.isLost = true
    this.cancel()
    this.endedAt ??= this.#keeper.now()
    this.#slot = undefined
    this.#spans?.end(this)
    for (const listener of this.#listeners ?? []) listener({ kind: "end", status: this.status })
  }

  finish(end: RunEnd): void {
    if (this.endedAt !== null) return
    this.#prepareRetry(end)
    const { valueBytesMax } = this.#keeper.sizes
    this.endedAt = Math.max(this.#keeper.now(), this.startedAt)
    const isIncomplete = end.error?.name === brokenResponse
    if (end.error !== null && !(isIncomplete && this.error !== null)) {
      this.error = truncateError(end.error, valueBytesMax)
      this.#isIncomplete = isIncomplete
    }
    this.status = end.status === "succeeded" && this.error !== null ? "failed" : end.status
    if (end.returnValue !== undefined) this.returnValue = this.#keep(end.returnValue)
    if (this.request && end.responseStatus !== undefined) this.request.status = end.responseStatus
    this.response = end.response ?? null
    this.#slot = undefined
    this.#spans?.end(this)
    this.#keeper.noteEnd(this)
    this.#keeper.noteChange(this)
    this.#emit({ kind: "end", status: this.status })
  }

  /** A failed attempt of a run with retries left is noted in its log. */
  #prepareRetry({ status, error, isFinal = false }: RunEnd): void {
    const { claim } = this
    const hasFailed =
      (status !== "succeeded" || this.error !== null) && status !== "cancelled" && !isFinal
    if (!claim || !hasFailed || this.isCancelled || claim.attempt > claim.retries) return
    const retryMs = claim.delayOf(claim.attempt)
    const cause = this.error ?? error
    const reason = cause ? `${cause.name}: ${cause.message}` : status
    this.log({
      at: new Date(this.#keeper.now()).toISOString(),
      level: "error",
      message: `Attempt ${claim.attempt} ended as ${status === "succeeded" ? "failed" : status} (${reason}); attempt ${claim.attempt + 1} starts in ${Math.ceil(retryMs / 1000)} s`,
    })
    this.claim = { ...claim, retryMs }
  }

  settled(): Promise<void> {
    return this.#keeper.flush(this)
  }

  subscribe(listener: (event: LiveEvent) => void): () => void {
    this.#listeners ??= new Set()
    const listeners = this.#listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  #keep(value: unknown): unknown {
    const cut = truncateMeasured(value, this.#keeper.sizes.valueBytesMax)
    this.#valueChars += cut.chars
    return cut.value
  }

  #emit(event: LiveEvent): void {
    if (this.#listeners) for (const listener of this.#listeners) listener(event)
    const { watchers } = this.#keeper
    if (watchers.size === 0) return
    for (const watcher of watchers.get(this.accountId) ?? []) watcher(this, event)
  }
}

function countInputChars(input: RunInput | null): number {
  if (input === null) return 0
  if ("headers" in input) return input.body.length
  return input.kind === "args" ? input.json.length : 0
}
