import type { Refused } from "@hamlet/guest/protocol"
import type { RunListener, Stopped } from "../program/runner.ts"

/** What a process knows about a run in it. */
export interface ActiveRun {
  readonly run: RunListener
  readonly startedMs: number
  /** Called after a line that the run has logged was delivered. */
  noteLog(): void
  /** Called with the response with which the val refuses a WebSocket. */
  noteRefusal(refusal: Refused): void
  /** Ends the run. What it waits for resolves with this outcome. */
  endWith(outcome: Stopped): void
  /** Ends the run when it takes too long or its client has disconnected. */
  sweep(nowMs: number): void
}

/**
 * The runs of a process that ended recently: a run may log after its response. There are two
 * generations. When the younger one is full, the older one is dropped as a whole. Runs end
 * thousands of times a second, and deleting them one by one from the front of a Map is slow: its
 * iterator walks over all entries that were deleted before.
 */
export class RecentlyEndedRuns {
  readonly #generationMax: number
  #younger = new Map<string, ActiveRun>()
  #older = new Map<string, ActiveRun>()

  constructor(runsMax: number) {
    this.#generationMax = Math.ceil(runsMax / 2)
  }

  add(activeRun: ActiveRun): void {
    if (this.#younger.size >= this.#generationMax) {
      this.#older = this.#younger
      this.#younger = new Map()
    }
    this.#younger.set(activeRun.run.id, activeRun)
  }

  /** The run with that id, unless it started before `sinceMs`. */
  find(runId: string, sinceMs: number): ActiveRun | undefined {
    const activeRun = this.#younger.get(runId) ?? this.#older.get(runId)
    return activeRun && activeRun.startedMs >= sinceMs ? activeRun : undefined
  }

  /** The greatest depth of the runs that started at `sinceMs` or later. */
  findDepth(sinceMs: number): number {
    let depth = 0
    for (const activeRuns of [this.#younger, this.#older])
      for (const { run, startedMs } of activeRuns.values())
        if (startedMs >= sinceMs) depth = Math.max(depth, run.depth)
    return depth
  }

  clear(): void {
    this.#younger.clear()
    this.#older.clear()
  }
}
