import type { CatchUp, Overlap } from "./schedules.ts"
import { findLastTime, findNextTime, type Timing } from "./timing.ts"

/** The limits of due times. */
export const dueLimits = {
  /**
   * A due time that is later than this was missed: no server was running. Less is a restart, or a
   * node that died and whose work another one does.
   */
  lateMsMax: 60_000,
  /** How long a due time waits for the previous run to end, with overlap "queue". */
  queuedMsMax: 3_600_000,
}

/** A schedule whose next due time has come. */
export interface DueSchedule {
  readonly timing: Timing
  readonly anchorAt: number
  readonly dueAt: number
  readonly overlap: Overlap
  readonly catchUp: CatchUp
  /** False when the val is of another type now, its owner is suspended, or too many runs wait. */
  readonly canRun: boolean
  /** The previous run of the schedule has not ended. */
  readonly hasOpenRun: boolean
  /** When the due times stopped waiting for an earlier run; null if they never waited. */
  readonly releasedAt: number | null
}

/** What to do with a due time. */
export interface DueDecision {
  /** `wait`: until the previous run has ended. */
  readonly kind: "run" | "drop" | "wait"
  /** The due time that runs. */
  readonly dueAt: number
  readonly nextAt: number | null
}

/** Decides what to do with a due time that has come. `now` is the time of the database. */
export function decideDue(due: DueSchedule, now: number): DueDecision {
  const { timing, anchorAt, overlap } = due
  const drop = (until: number): DueDecision => ({
    kind: "drop",
    dueAt: due.dueAt,
    nextAt: findNextTime(timing, anchorAt, until),
  })
  if (!due.canRun) return drop(now)
  const isMissed = now - Math.max(due.dueAt, due.releasedAt ?? 0) > dueLimits.lateMsMax
  // Times that are only late still run.
  if (isMissed && due.catchUp === "none") return drop(now - dueLimits.lateMsMax)
  // One run makes up for all missed times, as if it were for the last of them.
  const dueAt = isMissed ? findLastTime(timing, anchorAt, due.dueAt, now) : due.dueAt
  if (!due.hasOpenRun || overlap === "allow")
    return { kind: "run", dueAt, nextAt: findNextTime(timing, anchorAt, dueAt) }
  if (overlap === "skip") return drop(dueAt)
  if (now - dueAt > dueLimits.queuedMsMax) return drop(now - dueLimits.queuedMsMax)
  return { kind: "wait", dueAt, nextAt: dueAt }
}

/** A schedule that waits for its next due time. */
export interface WaitingSchedule extends Pick<DueSchedule, "timing" | "anchorAt"> {
  readonly nextAt: number
  readonly lastRunAt: number | null
}

/**
 * The right times of a schedule whose next due time is later than its timing allows, because the
 * clock was ahead when it was computed; undefined for any other.
 */
export function findCorrection(
  { timing, anchorAt, nextAt, lastRunAt }: WaitingSchedule,
  now: number,
): { readonly anchorAt: number; readonly nextAt: number } | undefined {
  const anchor = Math.min(anchorAt, now)
  const right = findNextTime(timing, anchor, now)
  if (right === null || right >= nextAt) return undefined
  // Clocks are often corrected by a moment: that due time has had its run.
  const isCorrectedByLittle =
    lastRunAt !== null && lastRunAt >= right && lastRunAt <= now + dueLimits.lateMsMax
  return isCorrectedByLittle ? undefined : { anchorAt: anchor, nextAt: right }
}
