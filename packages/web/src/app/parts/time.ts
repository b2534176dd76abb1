const units = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const

/** Ahead, days are counted up to about three months: people choose "in 90 days". */
const unitsAhead = [
  ["year", 31_536_000, 345 * 86_400],
  ["month", 2_592_000, 100 * 86_400],
  ["day", 86_400, 1.5 * 86_400],
  ["hour", 3_600, 5_400],
  ["minute", 60, 45],
] as const

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" })
const ahead = new Intl.RelativeTimeFormat("en", { style: "short" })
const absolute = new Intl.DateTimeFormat("en", {
  dateStyle: "medium",
  timeStyle: "medium",
  hourCycle: "h23",
})
const clock = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
})

/** A time relative to now: `3 hr. ago`, `in 90 days`. A time ahead is rounded. */
export function toAgo(at: string, nowMs = Date.now()): string {
  const seconds = (nowMs - Date.parse(at)) / 1000
  for (const [unit, size] of units)
    if (seconds >= size) return relative.format(-Math.trunc(seconds / size), unit)
  for (const [unit, size, from] of unitsAhead)
    if (-seconds >= from) return ahead.format(Math.round(-seconds / size), unit)
  return seconds < -5 ? "in a moment" : "just now"
}

/** A time in the time zone of the browser. */
export function toMoment(at: string): string {
  return absolute.format(new Date(at))
}

/** The time of day in the time zone of the browser, with milliseconds. */
export function toClock(at: string): string {
  return clock.format(new Date(at))
}
