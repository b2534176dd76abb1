import { expect, test } from "bun:test"
import { CronExpressionParser } from "cron-parser"
import { listNextTimes } from "../../src/domain/schedules/timing.ts"
import { type ClockChange, listClockChanges } from "./clock-changes.ts"
import { createExpressions } from "./expressions.ts"

/**
 * `HAMLET_NEXT_TIMES=all` compares 200 expressions over 40 years; otherwise few of them over some
 * years.
 */
const isWhole = process.env.HAMLET_NEXT_TIMES === "all"
const expressionCount = 200
const years = Array.from({ length: 40 }, (_, index) => 2000 + index)
const zones = [
  "Europe/Berlin",
  "America/New_York",
  // Half an hour.
  "Australia/Lord_Howe",
  // At midnight, and no more since 2019.
  "America/Sao_Paulo",
  // Around Ramadan, so that it changes up to four times a year.
  "Africa/Casablanca",
  "Asia/Tehran",
]
const hour = 3_600_000
/** From where the next times are compared, relative to the change of the clock. */
const starts = [-26 * hour, -45_000, 20 * 60_000]
const timesMax = 6

/**
 * Both libraries agree outside of the hour that a change of the clock repeats or skips. Within it
 * they differ by intention, in these five ways and no other.
 */
type Difference =
  /** Ours runs a fixed time that does not exist at the end of the gap; theirs later by the gap. */
  | "gap: at its end"
  /** Ours leaves out one of several times that does not exist; theirs runs it later by the gap. */
  | "gap: left out"
  /** Ours runs one of several times in both passes of a repeated hour; theirs in the first one. */
  | "repeated: both"
  /** Theirs runs a fixed time in the second pass when it is asked after the first one. */
  | "repeated: again"
  /** Theirs leaves out the rest of the hour after a gap of half an hour. */
  | "gap: half an hour"

const known: readonly string[] = [
  "gap: at its end",
  "gap: left out",
  "repeated: both",
  "repeated: again",
  "gap: half an hour",
] satisfies readonly Difference[]

test(
  "listNextTimes agrees with cron-parser around changes of daylight saving, but for five known differences",
  () => {
    const counts = new Map<string, number>()
    let compared = 0
    for (const [index, cron] of createExpressions(expressionCount, 15).entries()) {
      if (!isWhole && index % 20 !== 0) continue
      const timeZone = zones[index % zones.length] as string
      for (const change of changesOf(timeZone)) {
        for (const start of starts) {
          compared += 1
          for (const difference of compare(cron, timeZone, change.at + start))
            counts.set(difference, (counts.get(difference) ?? 0) + 1)
        }
      }
    }
    expect([...counts.keys()].filter((kind) => !known.includes(kind))).toEqual([])
    expect(compared).toBeGreaterThan(isWhole ? 40_000 : 50)
    if (isWhole) console.log(`compared ${compared} windows`, Object.fromEntries(counts))
  },
  { timeout: isWhole ? 1_800_000 : 30_000 },
)

const changes = new Map<string, readonly ClockChange[]>()

function changesOf(timeZone: string): readonly ClockChange[] {
  const some = isWhole ? years : years.filter((year) => year % 19 === 7)
  const known = changes.get(timeZone) ?? some.flatMap((year) => listClockChanges(timeZone, year))
  changes.set(timeZone, known)
  return known
}

/** The differences between the next times, each of a known kind or in words. */
function compare(cron: string, timeZone: string, from: number): string[] {
  const timing = { cron, every: null, timeZone }
  const ours = listNextTimes(timing, 0, from, timesMax)
  const theirs = listTheirs(cron, timeZone, from)
  for (const [index, at] of ours.entries())
    if (at <= (ours[index - 1] ?? from)) return [`${cron} goes back at ${toText(at)}`]
  // What one list has beyond the end of the other is not compared.
  const until = Math.min(ours.at(-1) ?? from, theirs.at(-1) ?? from)
  const onlyOurs = ours.filter((at) => at <= until && !theirs.includes(at))
  const onlyTheirs = theirs.filter((at) => at <= until && !ours.includes(at))
  const place = `${cron} in ${timeZone}`
  return [
    ...onlyOurs.map((at) => {
      const change = findChange(timeZone, at)
      return (change && explainOurs(change, at)) ?? `${place}: only ours ${toText(at)}`
    }),
    ...onlyTheirs.map((at) => {
      const change = findChange(timeZone, at)
      return (change && explainTheirs(change, from, at)) ?? `${place}: only theirs ${toText(at)}`
    }),
  ]
}

/** The change of the clock at most an hour before; the next times may be months later. */
function findChange(timeZone: string, at: number): ClockChange | undefined {
  const year = new Date(at).getUTCFullYear()
  return listClockChanges(timeZone, year).find((change) => at >= change.at && at < change.at + hour)
}

function listTheirs(cron: string, tz: string, from: number): readonly number[] {
  const parsed = CronExpressionParser.parse(cron, { currentDate: new Date(from), tz })
  const times: number[] = []
  try {
    while (times.length < timesMax) times.push(parsed.next().getTime())
  } catch (error) {
    // It gives up on an expression that is rarely due.
    if (!String(error).includes("loop limit")) throw error
  }
  return times
}

function explainOurs({ at: changedAt, shiftMs }: ClockChange, at: number): Difference | undefined {
  if (shiftMs > 0 && at === changedAt) return "gap: at its end"
  if (shiftMs > 0) return shiftMs < hour ? "gap: half an hour" : undefined
  const isSecondPass = at >= changedAt && at < changedAt - shiftMs
  return isSecondPass ? "repeated: both" : undefined
}

function explainTheirs(
  { at: changedAt, shiftMs }: ClockChange,
  from: number,
  at: number,
): Difference | undefined {
  if (at < changedAt || at >= changedAt + Math.abs(shiftMs)) return undefined
  if (shiftMs > 0) return "gap: left out"
  return from >= changedAt + shiftMs ? "repeated: again" : undefined
}

function toText(at: number): string {
  return new Date(at).toISOString()
}
