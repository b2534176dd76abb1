import type { RunStatus } from "../runs/runs.ts"

/** What is counted of a run. */
export interface RunSample {
  readonly valId: string
  readonly startedAt: number
  readonly endedAt: number | null
  readonly status: RunStatus
  /** Null when whoever asks may not see the val, or when it is no more. */
  readonly ownerId: string | null
}

/**
 * Some runs: how many there are, how many went wrong, and how long half and nineteen in twenty of
 * those that ended took at most.
 */
export interface RunCounts {
  readonly runs: number
  readonly errors: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** Runs on the way to being counted. */
export interface RunTally {
  runs: number
  errors: number
  readonly durationsMs: number[]
}

/** A tally of nothing yet. */
export function newTally(): RunTally {
  return { runs: 0, errors: 0, durationsMs: [] }
}

/** Adds a run to a tally. */
export function tally(to: RunTally, run: RunSample): void {
  to.runs += 1
  if (isError(run.status)) to.errors += 1
  // A clock that was set back must not make a run shorter than nothing.
  if (run.endedAt !== null) to.durationsMs.push(Math.max(0, run.endedAt - run.startedAt))
}

/** Whether the run went wrong: somebody who cancels it means to. */
export function isError(status: RunStatus): boolean {
  return status === "failed" || status === "timed_out" || status === "crashed"
}

/** What the tallies come to together. */
export function toCounts(tallies: readonly RunTally[]): RunCounts {
  // Numbers in an array of their own kind are sorted ten times as quickly.
  const durations = Float64Array.from(tallies.flatMap(({ durationsMs }) => durationsMs)).sort()
  return {
    runs: tallies.reduce((sum, { runs }) => sum + runs, 0),
    errors: tallies.reduce((sum, { errors }) => sum + errors, 0),
    p50Ms: percentile(durations, 50),
    p95Ms: percentile(durations, 95),
  }
}

/** The shortest of the durations that so many percent of them do not exceed. */
function percentile(sorted: Float64Array, percent: number): number | null {
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? null
}
