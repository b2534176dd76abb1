import type { OutgoingRequest, RunEgress } from "../egress.ts"
import { brokenResponse, type RunListener, type RunSlot } from "./runner.ts"
import type {
  LogLine,
  RunError,
  RunInput,
  RunRecord,
  RunRequest,
  RunSource,
  RunStatus,
} from "./runs.ts"
import { truncateError, truncateMeasured, truncateText } from "./truncate.ts"

/** A run that is about to begin. */
export interface NewRun
  extends Pick<
    RunRecord,
    | "id"
    | "valId"
    | "version"
    | "accountId"
    | "ownerId"
    | "parentId"
    | "source"
    | "startedAt"
    | "args"
  > {
  /** How many vals have called one another until it came to this run. */
  readonly depth: number
  readonly request: Pick<RunRequest, "method" | "url"> | null
  /** What a replay needs of the request: null when not all of it was kept. */
  readonly input: RunInput | null
}

/** How a run ended. */
export interface RunEnd {
  readonly status: "succeeded" | "failed" | "timed_out" | "cancelled" | "crashed"
  readonly error: RunError | null
  readonly returnValue?: unknown
  readonly responseStatus?: number
}

/** What followers of a run hear. */
export type LiveEvent =
  | { readonly kind: "log"; readonly index: number; readonly line: LogLine }
  | { readonly kind: "end"; readonly status: RunStatus }

/** A run of this process, from its beginning until the last of it is on disk. */
export interface LiveRun extends RunListener {
  readonly startedAt: number
  readonly endedAt: number | null
  readonly status: RunStatus
  readonly logs: readonly LogLine[]
  readonly logsTruncated: boolean
  readonly isCancelled: boolean
  /** Aborted when the run is cancelled. Made when it is asked for. */
  readonly signal: AbortSignal
  /** Where it runs, so that cancelling it reaches it. */
  attach(slot: RunSlot): void
  cancel(): void
  /**
   * The first end counts. Errors that nobody caught, before or after, turn a success into a
   * failure.
   */
  finish(end: RunEnd): void
  /**
   * Resolves when the run as it is now is on disk; rejects when that failed, though it will be
   * tried again.
   */
  settled(): Promise<void>
  /** Returns how to stop listening. */
  subscribe(listener: (event: LiveEvent) => void): () => void
}

/** How much of a run is kept. */
export interface RunSizes {
  readonly valueBytesMax: number
  readonly logBytesMax: number
  /** Outgoing requests that are kept one by one; further ones are only counted. */
  readonly outgoingMax: number
}

/** Who writes a run down. */
export interface RunKeeper {
  readonly nodeId: string
  readonly sizes: RunSizes
  now(): number
  /** There is something about the run that is not on disk yet. */
  noteChange(run: WrittenRun): void
  /** The run has ended. */
  noteEnd(run: WrittenRun): void
  /** Somebody waits until the run is on disk. */
  hurry(run: WrittenRun): Promise<void>
}

/** What a line costs beyond its message, so that empty lines have an end too. */
const lineBytes = 64
const noLogs: readonly LogLine[] = []

/**
 * The run and its record in one object: there are thousands in a second, and most are never more
 * than this.
 */
export class WrittenRun implements LiveRun, RunRecord {
  readonly #new: NewRun
  readonly #keeper: RunKeeper
  readonly args: unknown
  /** One that somebody asked for through the API: it is never given up. */
  readonly isKept: boolean
  status: RunStatus
  endedAt: number | null = null
  error: RunError | null = null
  returnValue: unknown = null
  logsTruncated = false
  egress: RunEgress | null = null
  isCancelled = false
  /** Not on disk yet, nor in the list of those with news. */
  isFresh = false
  isChanged = false
  isWriting = false
  /** It has left the queue, which is not on disk yet. */
  hasBegun = false
  writtenAt = 0
  #responseStatus: number | null = null
  #logs: LogLine[] | undefined
  #logBytes = 0
  /** Of the arguments and the return value. */
  #valueChars = 0
  #isVague = false
  #slot: RunSlot | undefined
  #abort: AbortController | undefined
  #listeners: Set<(event: LiveEvent) => void> | undefined

  constructor(run: NewRun, keeper: RunKeeper, isKept: boolean) {
    this.#new = run
    this.#keeper = keeper
    this.isKept = isKept
    this.status = isKept ? "queued" : "running"
    this.args = run.args === null ? null : this.#keep(run.args)
  }

  get id(): string {
    return this.#new.id
  }
  get valId(): string {
    return this.#new.valId
  }
  get version(): number {
    return this.#new.version
  }
  get accountId(): string {
    return this.#new.accountId
  }
  get ownerId(): string {
    return this.#new.ownerId
  }
  get parentId(): string | null {
    return this.#new.parentId
  }
  get depth(): number {
    return this.#new.depth
  }
  get source(): RunSource {
    return this.#new.source
  }
  get startedAt(): number {
    return this.#new.startedAt
  }
  get input(): RunInput | null {
    return this.#new.input
  }
  get request(): RunRequest | null {
    const { request } = this.#new
    return request && { method: request.method, url: request.url, status: this.#responseStatus }
  }
  /** A run that has ended is on no node, which saves writing it down most of the time. */
  get nodeId(): string | null {
    return this.endedAt === null ? this.#keeper.nodeId : null
  }
  get logs(): readonly LogLine[] {
    return this.#logs ?? noLogs
  }
  /** Roughly what it takes in memory. */
  get bytes(): number {
    const { input, error, egress } = this
    const errorChars =
      error === null ? 0 : error.name.length + error.message.length + (error.stack?.length ?? 0)
    const urlChars = egress === null ? 0 : egress.list.reduce((sum, { url }) => sum + url.length, 0)
    return (
      1_000 + this.#logBytes + this.#valueChars + (input?.body.length ?? 0) + errorChars + urlChars
    )
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.isCancelled) this.#abort.abort()
    return this.#abort.signal
  }

  get logBytesLeft(): number {
    return this.logsTruncated ? 0 : this.#keeper.sizes.logBytesMax - this.#logBytes - lineBytes
  }

  log(line: LogLine): void {
    if (this.logsTruncated) return
    const room = this.logBytesLeft
    const bytes = Buffer.byteLength(line.message)
    if (room <= 0) {
      this.noteTruncatedLogs()
      return
    }
    this.#logs ??= []
    const kept = bytes <= room ? line : { ...line, message: truncateText(line.message, room) }
    this.#logs.push(kept)
    this.#logBytes += Math.min(bytes, room) + lineBytes
    if (bytes > room) this.logsTruncated = true
    this.#keeper.noteChange(this)
    if (this.#listeners) this.#emit({ kind: "log", index: this.#logs.length - 1, line: kept })
  }

  noteTruncatedLogs(): void {
    if (this.logsTruncated) return
    this.logsTruncated = true
    this.#keeper.noteChange(this)
  }

  fail(error: RunError): void {
    // That an answer was broken off is what is seen of an error whose own words come a moment
    // later.
    const isExplained = this.error !== null && !this.#isVague
    if (isExplained || (this.endedAt !== null && this.status !== "succeeded" && !this.#isVague))
      return
    this.#isVague = false
    this.error = truncateError(error, this.#keeper.sizes.valueBytesMax)
    if (this.endedAt !== null) this.status = "failed"
    this.#keeper.noteChange(this)
  }

  sent(request: OutgoingRequest): void {
    const { egress: before } = this
    const list = before?.list ?? []
    this.egress = {
      requests: (before?.requests ?? 0) + 1,
      blocked: (before?.blocked ?? 0) + (request.blocked === null ? 0 : 1),
      bytesSent: (before?.bytesSent ?? 0) + request.bytesSent,
      bytesReceived: (before?.bytesReceived ?? 0) + request.bytesReceived,
      list: list.length < this.#keeper.sizes.outgoingMax ? [...list, request] : list,
    }
    this.#keeper.noteChange(this)
  }

  attach(slot: RunSlot): void {
    this.#slot = slot
    if (this.isCancelled) slot.stop("cancelled")
    if (this.status !== "queued") return
    this.status = "running"
    this.hasBegun = true
    this.#keeper.noteChange(this)
  }

  cancel(): void {
    if (this.isCancelled || this.endedAt !== null) return
    this.isCancelled = true
    this.#abort?.abort()
    this.#slot?.stop("cancelled")
  }

  finish(end: RunEnd): void {
    if (this.endedAt !== null) return
    const { valueBytesMax } = this.#keeper.sizes
    this.endedAt = Math.max(this.#keeper.now(), this.startedAt)
    const isVague = end.error?.name === brokenResponse
    if (end.error !== null && !(isVague && this.error !== null)) {
      this.error = truncateError(end.error, valueBytesMax)
      this.#isVague = isVague
    }
    this.status = end.status === "succeeded" && this.error !== null ? "failed" : end.status
    if (end.returnValue !== undefined) this.returnValue = this.#keep(end.returnValue)
    if (end.responseStatus !== undefined) this.#responseStatus = end.responseStatus
    this.#slot = undefined
    this.#keeper.noteEnd(this)
    this.#keeper.noteChange(this)
    if (this.#listeners) this.#emit({ kind: "end", status: this.status })
  }

  settled(): Promise<void> {
    return this.#keeper.hurry(this)
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
    for (const listener of this.#listeners ?? []) listener(event)
  }
}
