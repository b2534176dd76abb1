import { createTimeSlice, detachWork, Loop, type Tracer } from "@hamlet/kit"
import { AppError } from "../app-error.ts"
import {
  type RecordedRun,
  type RunPersistence,
  type RunSizes,
  type RunWatcher,
  runSizes,
} from "./live-run.ts"
import type { RunStore } from "./runs.ts"
import { selectDropped, UnrecordedRuns } from "./unrecorded-runs.ts"

/** The run was taken from this node before its state was recorded. */
class LeaseLost extends Error {}

/** How runs are written. */
export const recorderLimits = {
  ...runSizes,
  /** How long a run waits to be written together with others. */
  flushMs: 100,
  /** A run that lasts longer than this is written as running. */
  runningAfterMs: 200,
  /** How often the logs of a running run are written. That it left the queue is written sooner. */
  updateMs: 1_000,
  /** The number of runs in one transaction. */
  batchMax: 2_000,
  /**
   * The size of one transaction: serializing it blocks the event loop. A single run may exceed it.
   */
  batchBytesMax: 1024 * 1024,
  /** The delay before the next attempt when the database is unavailable. */
  retryMs: 1_000,
  /**
   * How much may wait for the database; beyond that, the oldest runs that did not come through the
   * API are dropped.
   */
  waitingMax: 50_000,
  waitingBytesMax: 64 * 1024 * 1024,
  /** The number of attempts to write the remaining runs when the server stops. */
  stopAttempts: 3,
}

export type RecorderLimits = Readonly<typeof recorderLimits>

/** Hears what the recorder does. */
export interface RecorderEvents {
  onError(error: unknown): void
  onEnd(run: RecordedRun): void
  /** A run of the val was written for the first time. */
  onRun(valId: string): void
  /** So many bytes were written on the account. */
  onBytes(accountId: string, bytes: number): void
}

/**
 * Writes runs in batches with a short delay, or at once where a caller waits. A run with something
 * to write is in one of two lists. Its flags decide: list entries whose flag was cleared are
 * skipped.
 *
 *   add ─▶ fresh ─(ended, or still running)─▶ writing ─▶ on disk ─(change)─▶ changed ─▶ writing …
 */
export class RunRecorder implements RunPersistence {
  readonly nodeId: string
  readonly now: () => number
  readonly tracer: Tracer | undefined
  readonly #runs: RunStore
  readonly #limits: RecorderLimits
  readonly #events: RecorderEvents
  readonly #loop: Loop
  /** The number of runs that were taken from this node since the start. */
  lost = 0
  readonly watchers = new Map<string, Set<RunWatcher>>()
  #fresh: RecordedRun[] = []
  #changed: RecordedRun[] = []
  readonly #open = new Map<string, RecordedRun>()
  /** The runs of which something is not on disk, those that are being written included. */
  readonly #unwritten = new Map<string, RecordedRun>()
  readonly #waiting = new Map<RecordedRun, PromiseWithResolvers<void>>()
  readonly #writing = new Set<Promise<void>>()
  readonly #unrecorded = new UnrecordedRuns()
  #isFlushScheduled = false
  #isFailing = false
  /** The number of runs that were dropped since the start. */
  dropped = 0

  constructor(
    runs: RunStore,
    nodeId: string,
    limits: RecorderLimits,
    now: () => number,
    events: RecorderEvents,
    tracer?: Tracer,
  ) {
    this.nodeId = nodeId
    this.now = now
    this.tracer = tracer
    this.#runs = runs
    this.#limits = limits
    this.#events = events
    const { onError } = events
    this.#loop = new Loop({ round: () => this.#writeDue(), onError })
  }

  get sizes(): RunSizes {
    return this.#limits
  }

  /** Runs that are on disk and have not ended there. */
  get open(): ReadonlyMap<string, RecordedRun> {
    return this.#open
  }

  /** Whether any run has not ended. */
  get isBusy(): boolean {
    const isOpen = (run: RecordedRun) => run.endedAt === null
    return this.#open.values().some(isOpen) || this.#fresh.some((run) => run.isFresh && isOpen(run))
  }

  get waiting(): number {
    return this.#fresh.length + this.#changed.length
  }

  add(run: RecordedRun): void {
    run.isFresh = true
    this.#fresh.push(run)
    this.#unwritten.set(run.id, run)
    this.#loop.wakeIn(this.#delayMs)
  }

  find(id: string): RecordedRun | undefined {
    return this.#open.get(id) ?? this.#unwritten.get(id)
  }

  /** Whether its end is not on disk yet, also if only that it is over will be. */
  isPending(id: string): boolean {
    return this.#unrecorded.has(id) || this.find(id) !== undefined
  }

  /** The runs that have not ended, including those that are not on disk yet. */
  listOpen(): readonly RecordedRun[] {
    const isOpen = (run: RecordedRun) => run.endedAt === null
    return [
      ...new Set([
        ...this.#open.values(),
        ...this.#fresh.filter((run) => run.isFresh),
        ...this.#changed,
      ]),
    ].filter(isOpen)
  }

  /** Adds a run that is on disk. */
  adopt(run: RecordedRun): void {
    this.#open.set(run.id, run)
  }

  /** Forgets a run that is no longer this node's. */
  forget(run: RecordedRun): void {
    run.isFresh = false
    run.isChanged = false
    this.#open.delete(run.id)
    this.#unwritten.delete(run.id)
    this.#unrecorded.delete(run.id)
    run.lose()
    this.#reject(run, new LeaseLost(`Run ${run.id} was taken from this node`))
  }

  noteChange(run: RecordedRun): void {
    if (run.isFresh || run.isChanged || run.isLost) return
    run.isChanged = true
    this.#changed.push(run)
    this.#unwritten.set(run.id, run)
    this.#loop.wakeIn(this.#delayMs)
  }

  noteEnd(run: RecordedRun): void {
    this.#events.onEnd(run)
  }

  flush(run: RecordedRun): Promise<void> {
    if (!run.isFresh && !run.isChanged && !run.isWriting) return Promise.resolve()
    const waiter = this.#waiting.get(run) ?? Promise.withResolvers<void>()
    this.#waiting.set(run, waiter)
    this.#flushSoon()
    return waiter.promise
  }

  /** Ends the remaining runs and writes all runs. */
  async stop(error: { readonly name: string; readonly message: string }): Promise<void> {
    for (const run of [...this.#open.values(), ...this.#fresh])
      run.finish({ status: "crashed", error })
    await this.#loop.stop()
    await this.#finishWrites()
    const { stopAttempts, retryMs } = this.#limits
    for (let attempt = 1; this.waiting > 0 && attempt <= stopAttempts; attempt++) {
      if (attempt > 1) await Bun.sleep(retryMs)
      await this.#writeAll(this.#take(Number.POSITIVE_INFINITY))
      await this.#finishWrites()
    }
    await this.#endUnrecorded().catch(this.#events.onError)
    if (this.waiting > 0)
      this.#events.onError(
        new Error(`Cannot record ${this.waiting} runs: the database is unavailable`),
      )
  }

  /** A write may begin while others are awaited. */
  async #finishWrites(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing)
  }

  get #delayMs(): number {
    return this.#isFailing ? this.#limits.retryMs : this.#limits.flushMs
  }

  async #writeDue(): Promise<number> {
    await this.#writeAll(this.#take(this.now()))
    this.#drop()
    await this.#loop.attempt("end runs without a record", () => this.#endUnrecorded())
    if (this.#unrecorded.size > 0) return this.#limits.retryMs
    return this.waiting === 0 ? Number.POSITIVE_INFINITY : this.#delayMs
  }

  async #endUnrecorded(): Promise<void> {
    const { nodeId, now } = this
    const onError = (error: unknown) => this.#loop.report(error)
    await this.#unrecorded.end(this.#runs, nodeId, now(), onError)
  }

  /** Removes the runs that are due from the lists. */
  #take(now: number): RecordedRun[] {
    const { flushMs, runningAfterMs, updateMs } = this.#limits
    const due: RecordedRun[] = []
    const remains = (run: RecordedRun, isDue: boolean) => {
      if (!isDue || run.isWriting) return true
      run.isFresh = false
      run.isChanged = false
      run.hasBegun = false
      due.push(run)
      return false
    }
    this.#fresh = this.#fresh.filter(
      (run) =>
        run.isFresh && remains(run, run.endedAt !== null || now - run.startedAt >= runningAfterMs),
    )
    // Most runs end soon after they begin: they are written once, with their end.
    const isDue = (run: RecordedRun) =>
      run.endedAt !== null ||
      (run.hasBegun && now - run.startedAt >= flushMs) ||
      now - run.writtenAt >= updateMs
    this.#changed = this.#changed.filter((run) => run.isChanged && remains(run, isDue(run)))
    return due
  }

  #flushSoon(): void {
    if (this.#isFlushScheduled) return
    this.#isFlushScheduled = true
    // Runs that start or end in the same turn of the event loop share a transaction.
    detachWork(() => setImmediate(() => this.#flushNow()))
  }

  #flushNow(): void {
    this.#isFlushScheduled = false
    const due = [...this.#waiting.keys()].filter(
      (run) => !run.isWriting && (run.isFresh || run.isChanged),
    )
    for (const run of due) {
      run.isFresh = false
      run.isChanged = false
    }
    void this.#writeAll(due)
  }

  async #writeAll(runs: readonly RecordedRun[]): Promise<void> {
    for (const run of runs) run.isWriting = true
    const writing = this.#writeBatches(runs)
    this.#writing.add(writing)
    await writing
    this.#writing.delete(writing)
  }

  async #writeBatches(runs: readonly RecordedRun[]): Promise<void> {
    const { batchMax, batchBytesMax } = this.#limits
    const pace = createTimeSlice()
    let batch: RecordedRun[] = []
    let bytes = 0
    for (const run of runs) {
      const runBytes = run.bytes
      if (batch.length > 0 && (batch.length === batchMax || bytes + runBytes > batchBytesMax)) {
        await this.#write(batch)
        // Serializing one takes a while, and many callers may wait for their runs to be written.
        await pace()
        batch = []
        bytes = 0
      }
      batch.push(run)
      bytes += runBytes
    }
    if (batch.length > 0) await this.#write(batch)
  }

  async #write(batch: readonly RecordedRun[]): Promise<void> {
    try {
      const isEnd = batch.map(({ endedAt }) => endedAt !== null)
      const lost = new Set(await this.#runs.record(batch))
      this.#isFailing = false
      for (const [index, run] of batch.entries()) {
        if (lost.has(run.id)) this.#noteLost(run)
        else this.#noteWritten(run, isEnd[index] === true)
      }
    } catch (error) {
      if (error instanceof AppError && error.code === "database_unavailable")
        return this.#requeue(batch, error)
      if (batch.length === 1) return this.#discard(batch, error)
      // One run cannot be written. Splitting the batch saves the others.
      const half = Math.ceil(batch.length / 2)
      await this.#write(batch.slice(0, half))
      await this.#write(batch.slice(half))
    }
  }

  #noteLost(run: RecordedRun): void {
    run.isWriting = false
    if (run.isEndWritten) {
      // The record came late for an attempt that was repeated.
      run.isLost = true
      this.#unwritten.delete(run.id)
      return
    }
    if (!run.isLost) this.lost += 1
    this.forget(run)
  }

  #noteWritten(run: RecordedRun, isEnd: boolean): void {
    run.isWriting = false
    run.isEndWritten = isEnd
    if (isEnd) this.#unrecorded.delete(run.id)
    if (run.writtenAt === 0) this.#events.onRun(run.valId)
    this.#events.onBytes(run.accountId, run.bytes)
    run.writtenAt = this.now()
    if (!run.isChanged) this.#unwritten.delete(run.id)
    if (run.endedAt === null || run.isChanged) this.#open.set(run.id, run)
    else if (this.#open.size > 0) this.#open.delete(run.id)
    if (this.#waiting.size === 0) return
    if (run.isChanged) {
      if (this.#waiting.has(run)) this.#flushSoon()
    } else {
      this.#waiting.get(run)?.resolve()
      this.#waiting.delete(run)
    }
  }

  #requeue(batch: readonly RecordedRun[], error: AppError): void {
    if (!this.#isFailing) this.#events.onError(error)
    this.#isFailing = true
    for (const run of batch) {
      run.isWriting = false
      if (run.isLost) continue
      this.#unwritten.set(run.id, run)
      if (!run.isChanged) this.#changed.push(run)
      run.isChanged = true
      this.#reject(run, error)
    }
    this.#loop.wakeIn(this.#delayMs)
  }

  #discard(batch: readonly RecordedRun[], error: unknown): void {
    this.#events.onError(error)
    this.dropped += batch.length
    for (const run of batch) {
      run.isWriting = false
      if (!run.isChanged) this.#unwritten.delete(run.id)
      if (run.endedAt === null) this.#open.set(run.id, run)
      else this.#abandon(run)
      this.#reject(run, error)
    }
    this.#loop.wakeIn(this.#limits.retryMs)
  }

  /** Its outcome is lost. If it is on disk, it must not stay queued or running there. */
  #abandon(run: RecordedRun): void {
    this.#open.delete(run.id)
    this.#unwritten.delete(run.id)
    if (run.isKept || run.writtenAt > 0) this.#unrecorded.add(run)
  }

  #reject(run: RecordedRun, error: unknown): void {
    this.#waiting.get(run)?.reject(error)
    this.#waiting.delete(run)
  }

  /** Bounds memory while the database is unavailable. */
  #drop(): void {
    if (!this.#isFailing) return
    const dropped = selectDropped(this.#changed, this.#limits)
    if (dropped.size === 0) return
    this.#changed = this.#changed.filter((run) => !dropped.has(run))
    this.dropped += dropped.size
    for (const run of dropped) {
      run.isChanged = false
      this.#abandon(run)
    }
    this.#events.onError(
      new Error(
        `Dropped the records of ${dropped.size} runs: the database is unavailable and memory is limited`,
      ),
    )
  }
}
