const units = [
  { name: "year", seconds: 31_536_000 },
  { name: "month", seconds: 2_592_000 },
  { name: "day", seconds: 86_400 },
  { name: "hour", seconds: 3_600 },
  { name: "minute", seconds: 60 },
] as const

/** A time relative to now, for people; also in the future. */
export function toAgo(at: string, nowMs: number): string {
  const seconds = Math.round((nowMs - Date.parse(at)) / 1000)
  const unit = units.find((one) => Math.abs(seconds) >= one.seconds)
  if (!unit) return "just now"
  const count = Math.floor(Math.abs(seconds) / unit.seconds)
  const span = `${count} ${unit.name}${count === 1 ? "" : "s"}`
  return seconds < 0 ? `in ${span}` : `${span} ago`
}
