import type { PackageCase } from "../package-case.ts"

/** Packages for dates, calendars and schedules. */
export const dates: readonly PackageCase[] = [
  {
    code: `import { addDays, format, formatDistance } from "npm:date-fns@4.4.0"
import { de } from "npm:date-fns@4.4.0/locale"
export default () => {
  const start = new Date(2024, 1, 28)
  return [format(addDays(start, 2), "yyyy-MM-dd"), formatDistance(start, addDays(start, 1), { locale: de })]
}`,
    returns: ["2024-03-01", "1 Tag"],
  },
  {
    code: `import dayjs from "npm:dayjs@1.11.23"
import utc from "npm:dayjs@1.11.23/plugin/utc.js"
import timezone from "npm:dayjs@1.11.23/plugin/timezone.js"
dayjs.extend(utc)
dayjs.extend(timezone)
export default () => dayjs.utc("2026-07-01T12:00:00Z").tz("Europe/Berlin").format("HH:mm")`,
    returns: "14:00",
  },
  {
    code: `import { DateTime } from "npm:luxon@3.7.2"
export default () => DateTime.fromISO("2026-01-01T12:00", { zone: "Asia/Tokyo" }).toUTC().toISO()`,
    returns: "2026-01-01T03:00:00.000Z",
  },
  {
    code: `import moment from "npm:moment-timezone@0.6.6"
export default () => moment.tz("2026-07-01 12:00", "America/New_York").utc().format()`,
    returns: "2026-07-01T16:00:00Z",
  },
  {
    code: `import rrule from "npm:rrule@2.8.1"
const { RRule } = rrule
export default () => new RRule({ freq: RRule.WEEKLY, count: 3, dtstart: new Date("2026-01-01T00:00:00Z") }).all().map((day) => day.getUTCDate())`,
    returns: [1, 8, 15],
  },
  {
    code: `import { Cron } from "npm:croner@11.0.0"
export default () => new Cron("0 12 * * 1", { timezone: "UTC" }).nextRun("2026-01-01T00:00:00Z").toISOString()`,
    returns: "2026-01-05T12:00:00.000Z",
  },
  {
    code: `import cron from "npm:node-cron@4.6.0"
export default () => new Promise((resolve) => {
  const task = cron.schedule("* * * * * *", () => { task.stop(); resolve(cron.validate("* * * * *")) })
})`,
    returns: true,
  },
  {
    code: `import ical from "npm:ical-generator@11.1.2"
export default () => {
  const calendar = ical({ name: "Plays" })
  calendar.createEvent({ start: new Date("2026-01-01T19:00:00Z"), summary: "Hamlet" })
  return calendar.toString().includes("SUMMARY:Hamlet")
}`,
    returns: true,
  },
]
