import { createSchedules } from "../domain/schedules/schedules.ts"
import type { Vals } from "../domain/vals/vals.ts"
import { ScheduleJob } from "../jobs/schedule-job.ts"
import type { Foundation } from "./foundation.ts"
import type { Stores } from "./stores.ts"

/** Schedules of vals, and the job that starts their runs. */
export function composeSchedules(
  foundation: Foundation,
  stores: Stores,
  vals: Vals,
  queue: { wake(): void },
) {
  const { config, onErrorOf } = foundation
  const scheduleJob = new ScheduleJob(stores.schedules, queue, onErrorOf("schedules"))
  const { schedules: limits } = config
  return {
    scheduleJob,
    schedules: createSchedules(stores.schedules, vals, limits, scheduleJob, foundation),
  }
}
