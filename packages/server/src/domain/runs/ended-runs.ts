import { Durations } from "../limits/durations.ts"
import type { RunSource, RunStatus } from "./runs.ts"

/** The runs of this process that have ended with one outcome, and how long they took. */
export interface EndedRuns {
  readonly source: RunSource
  readonly status: RunStatus
  readonly durations: Durations
}

/**
 * Counts runs as they end. There are as many entries as sources and outcomes, however many runs
 * there are.
 */
export function createEndedRuns(): {
  note(source: RunSource, status: RunStatus, ms: number): void
  list(): readonly EndedRuns[]
} {
  const entries = new Map<string, EndedRuns>()
  return {
    note(source, status, ms) {
      const key = `${source} ${status}`
      const entry = entries.get(key) ?? { source, status, durations: new Durations() }
      entries.set(key, entry)
      entry.durations.note(ms)
    },
    list: () => [...entries.values()],
  }
}
