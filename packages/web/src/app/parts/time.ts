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

/** How long ago something was: `3 hr. ago`. */
export function toAgo(at: string, nowMs = Date.now()): string {
  const seconds = (nowMs - Date.parse(at)) / 1000
  for (const [unit, size] of units)
    if (Math.abs(seconds) >= size) return relative.format(-Math.trunc(seconds / size), unit)
  return seconds < -5 ? "in a moment" : "just now"
}

/** A moment, written out in the person's own time. */
export function toMoment(at: string): string {
  return absolute.format(new Date(at))
}

/** How long something took: `12 ms`, `3.4 s`, `2 min 5 s`. */
export function toDuration(ms: number | null): string {
  if (ms === null) return "…"
  if (ms < 10) return `${ms.toFixed(1)} ms`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
}
