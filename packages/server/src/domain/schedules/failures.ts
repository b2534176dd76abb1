import type { RunStatus } from "../runs/runs.ts"

/** After how many failures in a row something happens. */
export const failureLimits = {
  /** The owner is told. */
  failingAfter: 10,
  /** The schedule is paused, and the owner is told. */
  pausedAfter: 100,
}

/** What the owner of a schedule is told. */
export type ScheduleNotice = "failing" | "paused"

/** Whether the run counts as a failure. One that was cancelled does not. */
export function isFailure(status: RunStatus): boolean {
  return status === "failed" || status === "timed_out" || status === "crashed"
}

/** What to tell the owner after that many failures in a row. */
export function findNotice(failureCount: number, isPaused: boolean): ScheduleNotice | undefined {
  if (isPaused) return undefined
  if (failureCount >= failureLimits.pausedAfter) return "paused"
  return failureCount === failureLimits.failingAfter ? "failing" : undefined
}

/** Why a schedule was paused, as a sentence for its owner. */
export function toPausedReason(failureCount: number): string {
  return `The last ${failureCount} runs failed`
}
