import type { ActiveRun } from "./active-run.ts"

/**
 * Who has left a process lately, since a run may log after its answer. Two generations: when the
 * younger one is full, the older one is forgotten as a whole. There are thousands in a second, and
 * to forget them one by one would take a walk over all that was deleted before.
 */
export class RecentlyEndedRuns {
  readonly #generationMax: number
  #younger = new Map<string, ActiveRun>()
  #older = new Map<string, ActiveRun>()

  constructor(seatsMax: number) {
    this.#generationMax = Math.ceil(seatsMax / 2)
  }

  add(activeRun: ActiveRun): void {
    if (this.#younger.size >= this.#generationMax) {
      this.#older = this.#younger
      this.#younger = new Map()
    }
    this.#younger.set(activeRun.run.id, activeRun)
  }

  /** The run of that id, unless it began before then. */
  find(runId: string, sinceMs: number): ActiveRun | undefined {
    const activeRun = this.#younger.get(runId) ?? this.#older.get(runId)
    return activeRun && activeRun.startedMs >= sinceMs ? activeRun : undefined
  }

  /** How deep the deepest of those is that did not begin before then. */
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
