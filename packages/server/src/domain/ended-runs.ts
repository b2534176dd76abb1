import type { RunSource, RunStatus } from "./runs.ts"

/** The runs of this process that have ended with one outcome, and how long they took. */
export interface EndedRuns {
  readonly source: RunSource
  readonly status: RunStatus
  /** How many took no longer than each of the bounds, and longer than the one before. */
  readonly counts: readonly number[]
  readonly count: number
  readonly sumSeconds: number
}

/** The bounds of the counts, in seconds. */
export const runBoundsSeconds: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Counts runs as they end. There are as many entries as sources and outcomes, however many runs there are. */
export function createEndedRuns(): { note(source: RunSource, status: RunStatus, ms: number): void; list(): readonly EndedRuns[] } {
  const entries = new Map<string, EndedRuns & { counts: number[]; count: number; sumSeconds: number }>()
  return {
    note(source, status, ms) {
      const key = `${source} ${status}`
      const entry = entries.get(key) ?? { source, status, counts: runBoundsSeconds.map(() => 0), count: 0, sumSeconds: 0 }
      entries.set(key, entry)
      const index = runBoundsSeconds.findIndex((bound) => ms <= bound * 1000)
      if (index >= 0) entry.counts[index] = (entry.counts[index] ?? 0) + 1
      entry.count += 1
      entry.sumSeconds += ms / 1000
    },
    list: () => [...entries.values()],
  }
}
