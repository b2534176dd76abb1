import { limits, type schedule, type schedulePreview } from "@hamlet/contract"
import type { z } from "zod"
import { describeTiming } from "../../domain/schedules/describe-timing.ts"
import { failureLimits } from "../../domain/schedules/failures.ts"
import { findPause, listDueTimes, type Schedule } from "../../domain/schedules/schedules.ts"
import { toMentionView } from "./views.ts"

/** A schedule with its next due times. */
export function toScheduleView(it: Schedule): z.infer<typeof schedule> {
  return toView(it, limits.scheduleTimesMax)
}

/** A schedule in a list: computing ten times for each of a hundred takes too long. */
export function toListedScheduleView(it: Schedule): z.infer<typeof schedule> {
  return toView(it, 1)
}

function toView(it: Schedule, timesMax: number): z.infer<typeof schedule> {
  const pause = findPause(it)
  return {
    val: toMentionView(it.val),
    cron: it.timing.cron,
    every: it.timing.every,
    timeZone: it.timing.timeZone,
    isPaused: pause !== undefined,
    pausedReason: pause?.reason ?? null,
    overlap: it.overlap,
    catchUp: it.catchUp,
    description: describeTiming(it.timing),
    nextAt: listDueTimes(it, timesMax).map(toText),
    lastRunAt: it.lastRunAt === null ? null : toText(it.lastRunAt),
    lastRunId: it.lastRunId,
    lastStatus: it.lastStatus,
    failureCount: it.failureCount,
    isFailing: it.failureCount >= failureLimits.failingAfter,
    createdAt: toText(it.createdAt),
    updatedAt: toText(it.updatedAt),
  }
}

/** What a schedule would mean. */
export function toPreviewView(it: {
  readonly description: string
  readonly nextAt: readonly number[]
}): z.infer<typeof schedulePreview> {
  return { description: it.description, nextAt: it.nextAt.map(toText) }
}

function toText(ms: number): string {
  return new Date(ms).toISOString()
}
