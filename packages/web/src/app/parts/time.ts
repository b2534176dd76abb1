const units = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" })
const absolute = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" })

/** A time relative to now: `3 hr. ago`. */
export function toAgo(at: string, nowMs = Date.now()): string {
  const seconds = (nowMs - Date.parse(at)) / 1000
  for (const [unit, size] of units)
    if (Math.abs(seconds) >= size) return relative.format(-Math.trunc(seconds / size), unit)
  return seconds < -5 ? "in a moment" : "just now"
}

/** A time in the time zone of the browser. */
export function toMoment(at: string): string {
  return absolute.format(new Date(at))
}
