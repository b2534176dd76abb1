import { createScheduleStore } from "../storage/schedules/schedules.ts"
import type { Foundation } from "./foundation.ts"

/** Schedules of vals. */
export function createSchedules({ config, db }: Foundation) {
  return { schedules: createScheduleStore(db), scheduleLimits: config.schedules }
}
