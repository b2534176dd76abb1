import { expect, test } from "bun:test"
import { CronExpressionParser } from "cron-parser"
import { listNextTimes } from "../../src/domain/schedules/timing.ts"
import { type ClockChange, listClockChanges } from "./clock-changes.ts"
import { createExpressions } from "./expressions.ts"

/**
 * `HAMLET_NEXT_TIMES=all` compares 200 expressions over 40 years, which takes some minutes; otherwise
 * a few of them over two years.
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
/**
 * Until when the next times are compared: cron-parser looks at each day until one matches, and
 * takes up to a second to find the next times of an expression that is rarely due.
 */
const end = 50 * hour
const timesMax = 6
/** Years that are also compared from their first day on, however long the next times take. */
const isSampled = (year: number) => year % 8 === 7

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

test.each(zones)(
  "listNextTimes agrees with cron-parser around changes of the clock in %s, but for known differences",
  (timeZone) => {
    const counts = new Map<string, number>()
    const windows = windowsOf(timeZone)
    const expressions = expressionsOf(timeZone)
    for (const cron of expressions) {
      // A run that prints nothing for minutes counts as hanging.
      if (isWhole) console.log(cron)
      for (const window of windows)
        for (const difference of compare(cron, timeZone, window))
          counts.set(difference, (counts.get(difference) ?? 0) + 1)
    }
    expect([...counts.keys()].filter((kind) => !known.includes(kind))).toEqual([])
    const compared = expressions.length * windows.length
    expect(compared).toBeGreaterThan(isWhole ? 3_000 : 10)
    if (isWhole) console.log(`compared ${compared} windows`, Object.fromEntries(counts))
  },
  { timeout: isWhole ? 1_800_000 : 120_000 },
)

/** The expressions are divided among the time zones. */
function expressionsOf(timeZone: string): readonly string[] {
  const own = createExpressions(expressionCount, 15).filter(
    (_, index) => zones[index % zones.length] === timeZone,
  )
  return isWhole ? own : own.filter((_, index) => index % 20 === 0)
}

/** A time from which the next times are compared, and until when. */
interface Window {
  readonly from: number
  readonly until: number
}

function windowsOf(timeZone: string): readonly Window[] {
  const some = isWhole ? years : years.filter((year) => year % 19 === 7)
  const aroundChanges = some.flatMap((year) =>
    changesIn(timeZone, year).flatMap(({ at }) =>
      starts.map((start) => ({ from: at + start, until: at + end })),
    ),
  )
  const samples = some.filter(isSampled).map((year) => Date.UTC(year, 0, 1))
  return [...aroundChanges, ...samples.map((from) => ({ from, until: Number.POSITIVE_INFINITY }))]
}

const changes = new Map<string, readonly ClockChange[]>()

function changesIn(timeZone: string, year: number): readonly ClockChange[] {
  const key = `${timeZone} ${year}`
  const found = changes.get(key) ?? listClockChanges(timeZone, year)
  changes.set(key, found)
  return found
}

/** The differences between the next times, each of a known kind or in words. */
function compare(cron: string, timeZone: string, window: Window): string[] {
  const { from } = window
  const ours = listNextTimes({ cron, every: null, timeZone }, 0, from, timesMax)
  const { theirs, isComplete } = listTheirs(cron, timeZone, window)
  for (const [index, at] of ours.entries())
    if (at <= (ours[index - 1] ?? from)) return [`${cron} goes back at ${toText(at)}`]
  // What one list has beyond the end of the other is not compared.
  const until = Math.min(ours.at(-1) ?? from, isComplete ? window.until : (theirs.at(-1) ?? from))
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
  return changesIn(timeZone, year).find((change) => at >= change.at && at < change.at + hour)
}

function listTheirs(cron: string, tz: string, { from, until }: Window) {
  const endDate = Number.isFinite(until) ? { endDate: new Date(until) } : {}
  const parsed = CronExpressionParser.parse(cron, { currentDate: new Date(from), tz, ...endDate })
  const theirs: number[] = []
  try {
    while (theirs.length < timesMax) theirs.push(parsed.next().getTime())
  } catch (error) {
    if (String(error).includes("Out of the time span")) return { theirs, isComplete: true }
    // The other parser gives up on an expression that is rarely due.
    if (!String(error).includes("loop limit")) throw error
  }
  return { theirs, isComplete: false }
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
