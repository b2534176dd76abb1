import type { Refused } from "@hamlet/guest/protocol"
import { RecentMap } from "@hamlet/kit"
import type { RunListener, Stopped } from "../program/runner.ts"

/** What a process knows about a run in it. */
export interface ActiveRun {
  readonly run: RunListener
  readonly startedMs: number
  /** Called after a line that the run has logged was delivered. */
  noteLog(): void
  /** Called with the response with which the program refuses a WebSocket. */
  noteRefusal(refusal: Refused): void
  /** Ends the run. What it waits for resolves with this outcome. */
  endWith(outcome: Stopped): void
  /** Ends the run when it takes too long or its client has disconnected. */
  sweep(nowMs: number): void
}

/** The runs of a process that ended recently: a run may log after its response. */
export class RecentlyEndedRuns {
  readonly #runs: RecentMap<string, ActiveRun>

  constructor(runsMax: number) {
    this.#runs = new RecentMap(runsMax)
  }

  add(activeRun: ActiveRun): void {
    this.#runs.set(activeRun.run.id, activeRun)
  }

  /** The run with that id, unless it started before `sinceMs`. */
  find(runId: string, sinceMs: number): ActiveRun | undefined {
    const activeRun = this.#runs.get(runId)
    return activeRun && activeRun.startedMs >= sinceMs ? activeRun : undefined
  }

  /** The greatest depth of the runs that started at `sinceMs` or later. */
  findDepth(sinceMs: number): number {
    let depth = 0
    for (const { run, startedMs } of this.#runs.values())
      if (startedMs >= sinceMs) depth = Math.max(depth, run.depth)
    return depth
  }

  clear(): void {
    this.#runs.clear()
  }
}
