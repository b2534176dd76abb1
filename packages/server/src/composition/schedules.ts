import type { Links } from "../http/response/links.ts"
import { ScheduleJob } from "../jobs/schedule-job.ts"
import { createScheduleStore } from "../storage/schedules/schedules.ts"
import type { Foundation } from "./foundation.ts"

/** Schedules of vals, and the job that starts their runs. */
export function createSchedules(
  { config, db, newId, onError }: Foundation,
  { links }: { readonly links: Pick<Links, "valPage"> },
  { queue }: { readonly queue: { wake(): void } },
) {
  const schedules = createScheduleStore(db, newId, links.valPage)
  const scheduleJob = new ScheduleJob({ schedules, queue, onError })
  return { schedules, scheduleJob, scheduleWork: scheduleJob, scheduleLimits: config.schedules }
}
