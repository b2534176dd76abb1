import type { EndedRun } from "../queue/queue-store.ts"
import { isServerError } from "../runs/runs.ts"

/** After how many failures in a row something happens. */
export const failureLimits = {
  /** The owner is told. */
  failingAfter: 10,
  /** The schedule is paused, and the owner is told. */
  pausedAfter: 100,
}

/** What the owner of a schedule is told. */
export type ScheduleNotice = "failing" | "paused"

/**
 * Whether the run counts as a failure. One that was cancelled does not, nor one that ended with its
 * server: it is the val that must have failed when its schedule is paused.
 */
export function isFailure({ status, error }: Pick<EndedRun, "status" | "error">): boolean {
  if (status === "crashed") return !isServerError(error)
  return status === "failed" || status === "timed_out"
}

/** What to tell the owner after that many failures in a row. */
export function findNotice(failureCount: number, isPaused: boolean): ScheduleNotice | undefined {
  if (isPaused) return undefined
  if (failureCount >= failureLimits.pausedAfter) return "paused"
  return failureCount === failureLimits.failingAfter ? "failing" : undefined
}

/** Why a schedule was paused, or seems to fail, as a sentence for its owner. */
export function toPausedReason(failureCount: number): string {
  return `The last ${failureCount} runs failed`
}

/** What a notice says about a schedule. */
export interface FailingSchedule {
  readonly valName: string
  readonly ownerName: string
  /** The path of its file and the branch; null for the first file of a val on `main`. */
  readonly place: { readonly path: string; readonly branch: string } | null
  readonly failureCount: number
  /** The error of its last run. */
  readonly error: string | null
  /** The address of the val's page. */
  toValPage(ownerName: string, valName: string): string
}

/** Errors are cut: they come from the val, and may be long. */
const errorCharsMax = 500

/** The mail to the owner. */
export function toNotice(
  kind: ScheduleNotice,
  { valName, ownerName, place, failureCount, error, toValPage }: FailingSchedule,
): { readonly subject: string; readonly text: string } {
  const val = `${ownerName}/${valName}`
  const name = place ? `${place.path} on branch ${place.branch} of ${val}` : val
  const isPaused = kind === "paused"
  const lines = [
    `The last ${failureCount} scheduled runs of ${name} failed.`,
    ...(error === null ? [] : ["", "The last error:", "", error.slice(0, errorCharsMax)]),
    "",
    isPaused
      ? "The schedule is paused now. Fix the val, then resume the schedule on its page:"
      : `The schedule goes on. It will be paused after ${failureLimits.pausedAfter} failures in a row. The page of the val:`,
    toValPage(ownerName, valName),
  ]
  const state = isPaused ? "is paused" : "keeps failing"
  return { subject: `The schedule of ${name} ${state}`, text: `${lines.join("\n")}\n` }
}
