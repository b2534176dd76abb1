import { z } from "zod"
import { limits } from "../limits.ts"
import { id, moment, runStatus, time } from "./fields.ts"
import { fileFilter, integerParam } from "./inputs.ts"
import { runRequest } from "./runs/run-records.ts"

/** The query of a chart: by default the day before `until`, which is now. */
export const statsQuery = z.object({
  since: moment.optional(),
  until: moment.optional(),
  buckets: integerParam(1, limits.statBucketsMax).default(48),
  ...fileFilter,
})

/** The query of the sparklines. */
export const activityQuery = z.object({
  hours: integerParam(1, limits.activityHoursMax).default(24),
  buckets: integerParam(1, limits.activityBucketsMax).default(24),
})

const count = z.int().min(0)
// The duration of ended runs; null if there are none.
const duration = z.number().min(0).nullable()
const runCounts = { runs: count, errors: count, p50Ms: duration, p95Ms: duration }

/** The runs of one bucket: `at` is its start, exclusive, like `since`. */
export const statBucket = z.object({ at: time, ...runCounts }).meta({ id: "StatBucket" })

/** Counts, errors and durations of runs. */
export const stats = z
  .object({
    since: time,
    until: time,
    bucketMs: z.int().min(1),
    buckets: z.array(statBucket),
    total: z.object(runCounts),
    // There were too many runs: only the newest are counted, and earlier buckets look empty.
    isPartial: z.boolean(),
  })
  .meta({ id: "Stats" })

/** The runs of one val, bucket by bucket. */
export const valActivity = z
  .object({
    valId: id,
    runs: z.array(count),
    errors: z.array(count),
    lastRunAt: time,
    lastStatus: runStatus,
    lastRunId: id.describe("The latest run"),
    lastRequest: runRequest
      .nullable()
      .describe("The request that started the latest run, if one did"),
  })
  .meta({ id: "ValActivity" })

/** The runs of all vals with runs, latest first. */
export const activity = z
  .object({
    since: time,
    until: time,
    bucketMs: z.int().min(1),
    data: z.array(valActivity),
    // Whether something is left out, as in stats; also if there are more vals than listed.
    isPartial: z.boolean(),
  })
  .meta({ id: "Activity" })
