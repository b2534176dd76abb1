import type { Schedule } from "./timing.ts"

/** When a schedule is next due, in a few words: `02:30 Berlin`, `every 15m`, `paused`. */
export function toShortTime(
  schedule: Pick<Schedule, "isPaused" | "every" | "nextAt" | "timeZone"> | undefined,
): string {
  if (!schedule) return "no schedule"
  const { isPaused, every, nextAt, timeZone } = schedule
  if (isPaused) return "paused"
  if (every !== null) return `every ${every}`
  const [next] = nextAt
  if (next === undefined) return "never due again"
  const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone })
  const place = timeZone.slice(timeZone.lastIndexOf("/") + 1).replaceAll("_", " ")
  return `${time.format(new Date(next))} ${place}`
}
