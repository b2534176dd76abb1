import { Histogram, Loop, RecentMap, type Tracer } from "@hamlet/kit"
import type { Clock } from "../clock.ts"
import { type LiveRun, RecordedRun, type RunWatcher } from "./live-run.ts"
import type { AdoptedRun, NewRun } from "./new-run.ts"
import { type RecorderEvents, RunRecorder, recorderLimits } from "./run-recorder.ts"
import { type RunSource, type RunStatus, type RunStore, serverErrors } from "./runs.ts"

export type { LiveEvent, LiveRun, RunEnd } from "./live-run.ts"
export type { NewRun } from "./new-run.ts"

/** The limits of live runs. */
const defaults = {
  ...recorderLimits,
  /**
   * How often the node reads the cancel requests that other nodes have received. A notice makes it
   * read them at once, but may get lost.
   */
  cancelMs: 1_000,
  /** The number of runs of a val after which its retention is checked. */
  runsBetween: 1_000,
  /** The number of bytes written on an account after which its retention is checked. */
  bytesBetween: 16_777_216,
  /** The number of vals, and of accounts, whose runs are counted. */
  idsMax: 100_000,
}

export type LiveRunLimits = Readonly<typeof defaults>

const notWritten = {
  name: "DatabaseUnavailable",
  message: "The run could not be recorded, so it was not started",
}

/** How often `drain` checks whether all runs have ended. */
const drainMs = 20

/** The runs of this process, from their start until their end is on disk. */
export class LiveRuns {
  readonly #runs: RunStore
  readonly #recorder: RunRecorder
  /** Reads cancel requests. */
  readonly #loop: Loop
  readonly #endListening: () => void
  readonly #ended = createEndedRuns()
  /** Another node has received a cancel request. */
  #hasNotice = false
  /** The runs, on any node, that were to be cancelled when this was last read. */
  #toBeCancelled: ReadonlySet<string> = new Set()
  /** The vals that may have more runs than retention allows. */
  readonly runsPerVal: RetentionCounts
  /** The accounts that may have more bytes of runs than retention allows. */
  readonly bytesPerAccount: RetentionCounts
  /** The runs that the vals do not count yet. */
  readonly uncounted: RunCounter

  /** `nodeId` is the id of this process in the database. Without a tracer, traces are off. */
  constructor(
    runs: RunStore,
    nodeId: string,
    { now, tracer }: Pick<Clock, "now"> & { readonly tracer?: Tracer | undefined },
    onError: (error: unknown) => void,
    changes: Partial<LiveRunLimits> = {},
  ) {
    const limits = { ...defaults, ...changes }
    const { idsMax, runsBetween, bytesBetween, cancelMs: pollMs } = limits
    this.#runs = runs
    this.runsPerVal = createRetentionCounts({ between: runsBetween, idsMax })
    this.bytesPerAccount = createRetentionCounts({ between: bytesBetween, idsMax })
    this.uncounted = createRunCounter(idsMax)
    const events: RecorderEvents = {
      onError,
      onEnd: ({ source, status, startedAt, endedAt }) =>
        this.#ended.add(source, status, (endedAt ?? startedAt) - startedAt),
      onRun: (valId) => {
        this.runsPerVal.note(valId)
        this.uncounted.note(valId)
      },
      onBytes: (accountId, bytes) => this.bytesPerAccount.note(accountId, bytes),
    }
    this.#recorder = new RunRecorder(runs, nodeId, limits, now, events, tracer)
    this.#loop = new Loop({
      round: () => this.#readCancelRequests(),
      pollMs,
      // The recorder reports that the database is unavailable. The requests stay in the database, so
      // they are read when it is back.
      onError() {},
    })
    this.#loop.start(pollMs)
    this.#endListening = runs.onCancelRequest(() => {
      this.#hasNotice = true
      this.#loop.wake()
    })
  }

  /** Starts a run that is written with the next batch. */
  open(run: NewRun): LiveRun {
    const live = new RecordedRun(run, this.#recorder, false)
    this.#recorder.add(live)
    return live
  }

  /** Starts a run, and resolves when it is on disk. */
  async begin(run: NewRun): Promise<LiveRun> {
    const live = new RecordedRun(run, this.#recorder, true)
    this.#recorder.noteChange(live)
    try {
      await live.settled()
      return live
    } catch (error) {
      // The write may have succeeded and only its confirmation got lost: then the run must not
      // stay queued forever.
      live.finish({ status: "crashed", error: notWritten })
      throw error
    }
  }

  /** Continues a run of the queue that this node has claimed. */
  adopt(run: AdoptedRun): LiveRun {
    const live = new RecordedRun(run, this.#recorder, true)
    live.adopt(run)
    this.#recorder.adopt(live)
    // The request may have been read between the claim and now.
    if (this.#toBeCancelled.has(live.id)) live.cancel()
    return live
  }

  /** Stops a run that was taken from this node, or that it has returned to the queue. */
  forget(id: string): void {
    const run = this.#recorder.open.get(id)
    if (run) this.#recorder.forget(run)
  }

  /** A run on this node that has not ended, or whose end is not on disk yet. */
  find(id: string): LiveRun | undefined {
    return this.#recorder.find(id)
  }

  /** Whether it is a run of this node whose end is not on disk yet. */
  isPending(id: string): boolean {
    return this.#recorder.isPending(id)
  }

  /** Calls the watcher with all events of the runs on the account. Returns a function that ends it. */
  watch(accountId: string, watcher: RunWatcher): () => void {
    const { watchers } = this.#recorder
    const others = watchers.get(accountId) ?? new Set()
    watchers.set(accountId, others.add(watcher))
    return () => {
      others.delete(watcher)
      if (others.size === 0 && watchers.get(accountId) === others) watchers.delete(accountId)
    }
  }

  /** Cancels the runs of the user's vals and on the user's account on this node. */
  cancelAllOf(userId: string): void {
    for (const run of this.#recorder.listOpen())
      if (run.accountId === userId || run.ownerId === userId) run.cancel()
  }

  /** For the metrics. */
  stats(): { readonly open: number; readonly waiting: number; readonly dropped: number } {
    return {
      open: this.#recorder.open.size,
      waiting: this.#recorder.waiting,
      dropped: this.#recorder.dropped,
    }
  }

  /** The number of runs that were taken from this node since the start. */
  countLost(): number {
    return this.#recorder.lost
  }

  /** The runs that have ended on this node since the start. */
  endedRuns(): readonly EndedRuns[] {
    return this.#ended.list()
  }

  /** Resolves when all runs have ended, or after `msMax`. */
  async drain(msMax: number): Promise<void> {
    const until = performance.now() + msMax
    while (this.#recorder.isBusy && performance.now() < until) await Bun.sleep(drainMs)
  }

  /** Ends the remaining runs and writes all runs to disk. */
  async stop(): Promise<void> {
    this.#endListening()
    await this.#loop.stop()
    await this.#recorder.stop(serverErrors.stopped)
  }

  async #readCancelRequests(): Promise<void> {
    if (this.#recorder.open.size === 0 && !this.#hasNotice) return
    this.#hasNotice = false
    this.#toBeCancelled = new Set(await this.#runs.listCancelRequests())
    for (const id of this.#toBeCancelled) this.#recorder.open.get(id)?.cancel()
  }
}

/** How long the runs took that ended on this node, for one source and outcome. */
export interface EndedRuns {
  readonly source: RunSource
  readonly status: RunStatus
  readonly durations: Histogram
}

/** Counts ended runs, with one entry per source and outcome. */
export function createEndedRuns(): {
  add(source: RunSource, status: RunStatus, ms: number): void
  list(): readonly EndedRuns[]
} {
  const entries: EndedRuns[] = []
  return {
    add(source, status, ms) {
      let entry = entries.find((it) => it.source === source && it.status === status)
      if (!entry) {
        entry = { source, status, durations: new Histogram() }
        entries.push(entry)
      }
      entry.durations.add(ms)
    },
    list: () => entries,
  }
}

/** Counts runs per val until they are added to the vals. */
export interface RunCounter {
  note(valId: string, runs?: number): void
  /** Returns the counts and resets them. */
  take(): ReadonlyMap<string, number>
}

/** Runs of further vals are not counted while there are `idsMax` vals: the counts only rank vals. */
export function createRunCounter(idsMax: number): RunCounter {
  let counts = new Map<string, number>()
  return {
    note(valId, runs = 1) {
      const count = counts.get(valId)
      if (count !== undefined || counts.size < idsMax) counts.set(valId, (count ?? 0) + runs)
    },
    take() {
      const taken = counts
      counts = new Map()
      return taken
    },
  }
}

/** Finds the vals or accounts that have so many new runs, or bytes of runs, that retention is due. */
export interface RetentionCounts {
  note(id: string, amount?: number): void
  /** Returns the ids that are due and resets them. */
  take(): readonly string[]
}

/**
 * An id is due with its first run since the start, since older runs are not counted, and then after
 * every `between` runs or bytes.
 */
export function createRetentionCounts(limits: {
  readonly between: number
  readonly idsMax: number
}): RetentionCounts {
  const counts = new RecentMap<string, number>(limits.idsMax)
  const due = new Set<string>()
  return {
    note(id, amount = 1) {
      const count = (counts.get(id) ?? limits.between - amount) + amount
      if (count >= limits.between) due.add(id)
      // Dropping a count is harmless: retention is checked once too often for that id.
      counts.set(id, count % limits.between)
    },
    take() {
      const ids = [...due]
      due.clear()
      return ids
    },
  }
}
