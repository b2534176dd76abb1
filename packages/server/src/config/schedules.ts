import type { Env } from "./options.ts"
import { type ReadSetting, readInteger } from "./readers.ts"

/** The limits of schedules. */
export interface ScheduleConfig {
  readonly perUserMax: number
  readonly secondsMin: number
}

/** Reads the settings of schedules. */
export function loadScheduleConfig(read: ReadSetting): ScheduleConfig {
  const integer = (name: Env, standard: number, min: number, max: number) =>
    readInteger(name, read(name), min, max) ?? standard
  return {
    perUserMax: integer("HAMLET_SCHEDULES_PER_USER_MAX", 100, 0, 1_000_000),
    secondsMin: integer("HAMLET_SCHEDULE_SECONDS_MIN", 1, 1, 86_400),
  }
}
