import type { schedulePreviewQuery } from "@hamlet/contract"
import type { Issue } from "@hamlet/kit"
import { Cron } from "croner"
import type { z } from "zod"
import { AppError } from "../app-error.ts"

/** When a schedule is due: by a cron expression in a time zone, or in equal steps. */
export interface Timing {
  /** One of `cron` and `every` is null. */
  readonly cron: string | null
  /** A duration, such as 15m. */
  readonly every: string | null
  /** The IANA name of the time zone of `cron`. */
  readonly timeZone: string
}

/** A timing as a client sends it. */
export type TimingInput = Readonly<z.output<typeof schedulePreviewQuery>>

const limits = {
  everyMsMax: 366 * 86_400_000,
  /** How many due times are checked for two that are closer than the server allows. */
  gapsChecked: 50,
  /** How long after the first of them: the times of one day say how close any two can be. */
  gapsMsMax: 366 * 86_400_000,
  /**
   * How far a search goes. The weekday of 29 February repeats after 40 years at most, so a date that
   * is later does not exist, and without a limit croner looks at 400 years, which takes long.
   */
  searchYears: 40,
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/**
 * Checks a timing and writes it in its usual form. Throws `invalid_request`, with the field and a
 * sentence for a form, when it cannot be understood or is never due, and when it is due more often
 * than every `secondsMin` seconds.
 */
export function readTiming(input: TimingInput, secondsMin: number, now: number): Timing {
  const timeZone = readTimeZone(input.timeZone ?? "UTC")
  if (input.cron !== undefined && input.every !== undefined)
    throw invalid("every", "must not be combined with cron")
  if (input.every !== undefined)
    return { cron: null, every: readEvery(input.every, secondsMin), timeZone }
  if (input.cron === undefined) throw invalid("cron", "is missing: send either cron or every")
  const timing = { cron: readCron(input.cron), every: null, timeZone }
  assertGaps(timing, secondsMin, now)
  return timing
}

/**
 * The first due time after `after`; null when there is none. The times of `every` are counted from
 * `anchorAt`. A time that daylight saving skips or repeats is treated as cron does: see
 * docs/schedules.md.
 */
export function findNextTime(timing: Timing, anchorAt: number, after: number): number | null {
  if (timing.every !== null) {
    const stepMs = toMs(timing.every)
    return anchorAt + Math.max(1, Math.floor((after - anchorAt) / stepMs) + 1) * stepMs
  }
  return searching(() => findNext(toCrons(timing, after, after), after))
}

/**
 * A timing that was accepted once may not be understood any more: a version of the server may know
 * other names of time zones, or read expressions differently.
 */
function searching<Found>(search: () => Found): Found {
  try {
    return search()
  } catch (error) {
    throw invalid("cron", toReason(error))
  }
}

function findNext(crons: readonly Cron[], after: number): number | null {
  const times = crons.flatMap((cron) => cron.nextRun(new Date(after))?.getTime() ?? [])
  return times.length === 0 ? null : Math.min(...times)
}

/** The last due time from `from`, which is one, to `until`. */
export function findLastTime(
  timing: Timing,
  anchorAt: number,
  from: number,
  until: number,
): number {
  if (timing.every !== null) {
    const stepMs = toMs(timing.every)
    return Math.max(from, anchorAt + Math.floor((until - anchorAt) / stepMs) * stepMs)
  }
  // Croner looks at whole seconds, and before the one that it is given.
  const before = new Date(Math.floor(until / 1_000) * 1_000 + 1_000)
  const times = searching(() =>
    toCrons(timing, from, until).flatMap((cron) => cron.previousRuns(1, before)),
  )
  return Math.max(from, ...times.map((time) => time.getTime()))
}

/**
 * The first due times after `after`, at most `countMax`. Those of a cron expression are within 40
 * years, and within `spanMsMax` of the first.
 */
export function listNextTimes(
  timing: Timing,
  anchorAt: number,
  after: number,
  countMax: number,
  spanMsMax = Number.POSITIVE_INFINITY,
): readonly number[] {
  if (countMax < 1) return []
  if (timing.every !== null)
    return listTimes((last) => findNextTime(timing, anchorAt, last), after, countMax, spanMsMax)
  return searching(() => {
    // One set for the whole list, so that all its searches together go as far as one.
    const crons = toCrons(timing, after, after)
    return listTimes((last) => findNext(crons, last), after, countMax, spanMsMax)
  })
}

function listTimes(
  findAfter: (last: number) => number | null,
  after: number,
  countMax: number,
  spanMsMax: number,
): readonly number[] {
  const times: number[] = []
  while (times.length < countMax) {
    const last = times.at(-1) ?? after
    if (last - (times[0] ?? last) > spanMsMax) break
    const next = findAfter(last)
    if (next === null) break
    times.push(next)
  }
  return times
}

/** The parts of a duration, from the largest unit: 90m is 1 hour and 30 minutes. */
export function splitDuration(every: string): readonly { count: number; unit: string }[] {
  let rest = toMs(every)
  const parts: { count: number; unit: string }[] = []
  for (const [unit, name] of [
    ["d", "day"],
    ["h", "hour"],
    ["m", "minute"],
    ["s", "second"],
  ] as const) {
    const ms = unitMs[unit] ?? 1
    const count = Math.floor(rest / ms)
    rest -= count * ms
    if (count > 0) parts.push({ count, unit: name })
  }
  return parts
}

function readTimeZone(name: string): string {
  try {
    // A name, not an offset such as +02:00, which knows no daylight saving.
    if (!/^[A-Za-z][\w+/-]*$/.test(name)) throw new RangeError("not a name")
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions()
    // Corrects the case, but keeps the name of a zone that is an alias of another.
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name
  } catch {
    throw invalid("timeZone", "must be the name of a time zone, such as Europe/Berlin or UTC")
  }
}

function readEvery(text: string, secondsMin: number): string {
  const every = text.replace(/\s+/g, "").toLowerCase()
  if (!/^(?:\d{1,9}[smhdw])+$/.test(every))
    throw invalid("every", "must be a duration such as 30s, 15m, 2h, 1d or 1h30m")
  const ms = toMs(every)
  if (ms < secondsMin * 1_000)
    throw invalid(
      "every",
      `must be at least ${secondsMin} ${secondsMin === 1 ? "second" : "seconds"}`,
    )
  if (ms > limits.everyMsMax) throw invalid("every", "must be at most 366 days")
  return every
}

function toMs(every: string): number {
  let ms = 0
  for (const [, count, unit] of every.matchAll(/(\d+)([smhdw])/g))
    ms += Number(count) * (unitMs[unit ?? ""] ?? 0)
  return ms
}

const fieldNames = "minute, hour, day of the month, month, day of the week"

function readCron(text: string): string {
  const cron = text.trim().replace(/\s+/g, " ")
  const count = cron.split(" ").length
  // Croner also reads a date as an expression that is due once, and years as a seventh field.
  if (!cron.startsWith("@") && count !== 5 && count !== 6)
    throw invalid(
      "cron",
      `must have five fields (${fieldNames}), or six with seconds first; it has ${count}`,
    )
  try {
    new Cron(cron, { paused: true, mode: "5-or-6-parts" })
  } catch (error) {
    throw invalid("cron", toReason(error))
  }
  return cron
}

/** Croner's messages begin with names of its own classes. */
function toReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const reason = message.replace(/^(?:CronPattern|CronDate|Cron): /, "").replace(/\.$/, "")
  return `is not a cron expression: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`
}

function assertGaps(timing: Timing, secondsMin: number, now: number): void {
  const countMax = secondsMin > 1 ? limits.gapsChecked : 1
  const times = listNextTimes(timing, now, now, countMax, limits.gapsMsMax)
  if (times.length === 0) throw invalid("cron", "is never due: no date matches it")
  const isTooOften = times.some((at, index) => {
    const before = times[index - 1]
    return before !== undefined && at - before < secondsMin * 1_000
  })
  if (isTooOften) throw invalid("cron", `must be due at most every ${secondsMin} seconds`)
}

/** What croner reads for these names. */
const nicknames: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
}

/**
 * An expression that is due on days of the month or of the week becomes two. Croner 11.0.0 takes a
 * weekday for one of February that is in March, and so leaves out 1 March in some years. The years
 * from `from` to some time after `until` are a field of the expression: a search ends with them.
 */
function toCrons({ cron, timeZone }: Timing, from: number, until: number): readonly Cron[] {
  const years = `${toYear(from) - 1}-${toYear(until) + limits.searchYears + 1}`
  const toCron = (expression: string) =>
    new Cron(`${expression} ${years}`, { timezone: timeZone, paused: true, mode: "7-part" })
  const text = cron ?? ""
  const fields = (nicknames[text.toLowerCase()] ?? text).split(" ")
  if (fields.length === 5) fields.unshift("0")
  const [day, month, weekday] = fields.slice(-3)
  const isSplit = [day, weekday].every((field) => field !== undefined && !/^[*?+]/.test(field))
  if (!isSplit) return [toCron(fields.join(" "))]
  const time = fields.slice(0, -3).join(" ")
  return [toCron(`${time} ${day} ${month} *`), toCron(`${time} * ${month} ${weekday}`)]
}

function toYear(at: number): number {
  return new Date(at).getUTCFullYear()
}

function invalid(path: string, message: string): AppError {
  const issues: readonly Issue[] = [{ path, message }]
  return new AppError("invalid_request", `Cannot set the schedule: "${path}" ${message}`, {
    issues,
  })
}
