import { z } from "zod"
import { limits } from "../limits.ts"
import { scheduleCatchUps, scheduleOverlaps } from "../lists.ts"
import { id, runStatus, text, time } from "./fields.ts"
import { branchMention, fileMention, valMention } from "./records.ts"

// The server reads these texts, so that a client needs to know neither cron nor time zones.
const cron = text(limits.cronCharsMax, 1)
const every = text(limits.everyCharsMax, 1)
const timeZone = text(limits.timeZoneCharsMax, 1)

/** What happens at a due time while the previous run of the schedule has not ended. */
export const scheduleOverlap = z.enum(scheduleOverlaps)

/** Whether due times that were missed, while no server was running, are made up for by one run. */
export const scheduleCatchUp = z.enum(scheduleCatchUps)

/** The body of a new schedule, or of a change: fields that are absent keep their values. */
export const putScheduleBody = z
  .object({
    /** Five fields, or six with seconds. */
    cron: cron.optional(),
    /** A duration, such as 15m, 2h or 1d. */
    every: every.optional(),
    timeZone: timeZone.optional(),
    isPaused: z.boolean().optional(),
    overlap: scheduleOverlap.optional(),
    catchUp: scheduleCatchUp.optional(),
  })
  .refine(
    (body) => Object.values(body).some((value) => value !== undefined),
    "must have at least one of cron, every, timeZone, isPaused, overlap, catchUp",
  )
  .refine(({ cron, every }) => cron === undefined || every === undefined, {
    path: ["every"],
    message: "must not be combined with cron",
  })

/** The query of a preview. */
export const schedulePreviewQuery = z.object({
  cron: cron.optional(),
  every: every.optional(),
  timeZone: timeZone.optional(),
})

/** A schedule in words, and when it would be due. */
export const schedulePreview = z
  .object({ description: z.string(), nextAt: z.array(time) })
  .meta({ id: "SchedulePreview" })

/** When a file of type `interval` runs, and how its last runs ended. */
export const schedule = z
  .object({
    val: valMention,
    file: fileMention,
    branch: branchMention,
    // One of the two is null.
    cron: z.string().nullable(),
    every: z.string().nullable(),
    timeZone: z.string(),
    isPaused: z.boolean(),
    // A sentence; null if the owner paused it, or if it is not paused.
    pausedReason: z.string().nullable(),
    overlap: scheduleOverlap,
    catchUp: scheduleCatchUp,
    // The timing in words, such as "every weekday at 09:00 in Europe/Berlin".
    description: z.string(),
    // The next ten due times, in a list only the next one; empty while it is paused.
    nextAt: z.array(time),
    lastRunAt: time.nullable(),
    lastRunId: id.nullable(),
    lastStatus: runStatus.nullable(),
    // How many runs in a row have failed.
    failureCount: z.int().min(0),
    // Whether so many have failed that the owner should look at it.
    isFailing: z.boolean(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: "Schedule" })
