/** A moment at which the clock of a time zone is moved. */
export interface ClockChange {
  readonly at: number
  /** By how much: positive when a part of the day is skipped, negative when it is repeated. */
  readonly shiftMs: number
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** How far the clock of the time zone is ahead of UTC. */
function offsetOf(timeZone: string, at: number): number {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat("en-GB", { timeZone, dateStyle: "short", timeStyle: "medium" })
  formats.set(timeZone, format)
  const [day, month, year, hours, minutes, seconds] = (
    format.format(new Date(at)).match(/\d+/g) ?? []
  ).map(Number) as [number, number, number, number, number, number]
  return Date.UTC(year, month - 1, day, hours, minutes, seconds) - Math.floor(at / 1_000) * 1_000
}

/** The changes of the clock in that year. */
export function listClockChanges(timeZone: string, year: number): readonly ClockChange[] {
  const changes: ClockChange[] = []
  const end = Date.UTC(year + 1, 0, 1)
  const step = 86_400_000
  for (let from = Date.UTC(year, 0, 1); from < end; from += step) {
    const before = offsetOf(timeZone, from)
    const after = offsetOf(timeZone, from + step)
    if (before === after) continue
    let [low, high] = [from, from + step]
    while (high - low > 1_000) {
      const middle = Math.floor((low + high) / 2_000) * 1_000
      if (offsetOf(timeZone, middle) === before) low = middle
      else high = middle
    }
    changes.push({ at: high, shiftMs: after - before })
  }
  return changes
}
