import type { ExpectedStart } from "../program/runner.ts"

const minuteMs = 60_000
const dayMinutes = 24 * 60
const keptDays = 7
/** Processes that are taken within this time of each other are taken at once: none can be replaced. */
const stepMs = 5_000
/** After so many quiet minutes, demand is only remembered for the hours and days to come. */
const recentMinutes = 5
/** Minutes around the present one whose demand in former hours and days counts. */
const around = { before: 1, ahead: 2 }
const formerHours = 3
/** What is expected counts so long before its time, and after it for as long as a step. */
const expectedAheadMs = 60_000
/** What one account takes counts up to this share of the pool. */
const accountShare = 0.75
/** One for each minute of the days, and for those around. */
const minutesKept = keptDays * dayMinutes + around.before + around.ahead + 1

/** How many processes are taken at once. */
export interface Peak {
  readonly count: number
  /** The part that accounts other than the largest one take. */
  readonly others: number
}

const noPeak: Peak = { count: 0, others: 0 }

/**
 * Remembers for a week how many processes were taken in the busiest seconds of each minute, and predicts
 * how many will be: as many as in the last minutes, as in this minute of the last hours, as in this
 * minute of the last days, or as the caller expects. Everything that one account takes counts only up to a share, so
 * that it does not crowd out others.
 */
export class Demand {
  readonly #accountMax: number
  /** The peak of each minute, at the number of the minute modulo their length. */
  readonly #counts = new Uint16Array(minutesKept)
  readonly #others = new Uint16Array(minutesKept)
  #minute: number | undefined
  #step = new Step(Number.NEGATIVE_INFINITY, 0, noPeak)
  #expected: readonly (Peak & { readonly atMs: number })[] = []

  /** `countMax`: the largest size of the pool. */
  constructor(countMax: number) {
    this.#accountMax = Math.ceil(countMax * accountShare)
  }

  /** A process is taken. Returns how many the account has taken within the step, this one included. */
  noteTaken(accountId: string, nowMs: number): number {
    this.#advance(nowMs)
    if (nowMs - this.#step.sinceMs >= stepMs) this.#beginStep(nowMs)
    const count = this.#step.add(accountId, this.#accountMax)
    this.#record()
    return count
  }

  /** The last process that was taken does not count. */
  uncountLast(): void {
    this.#step.removeLast(this.#accountMax)
    this.#record()
  }

  /** Replaces what was expected before. */
  expect(starts: readonly ExpectedStart[], nowMs: number): void {
    const steps = new Map<number, Step>()
    for (const { accountId, inMs } of starts) {
      const index = Math.floor(inMs / stepMs)
      const step = steps.get(index) ?? new Step(nowMs + index * stepMs, 0, noPeak)
      steps.set(index, step)
      step.add(accountId, this.#accountMax)
    }
    this.#expected = [...steps.values()].map((step) => ({ ...step.peak, atMs: step.sinceMs }))
  }

  /** What will be taken within a step, soon. */
  predict(nowMs: number): Peak {
    this.#advance(nowMs)
    const minute = toMinute(nowMs)
    const peaks = this.#expected.filter(
      ({ atMs }) => nowMs >= atMs - expectedAheadMs && nowMs < atMs + stepMs,
    )
    return listFormer(minute)
      .map((former) => this.#peakOf(former))
      .reduce(toLarger, peaks.reduce(toLarger, noPeak))
  }

  #peakOf(minute: number): Peak {
    if (minute < 0) return noPeak
    const place = minute % minutesKept
    return { count: this.#counts[place] ?? 0, others: this.#others[place] ?? 0 }
  }

  /** Forgets the minutes whose places are needed now. */
  #advance(nowMs: number): void {
    const minute = toMinute(nowMs)
    this.#minute ??= minute
    for (let next = Math.max(this.#minute + 1, minute - minutesKept + 1); next <= minute; next++) {
      this.#counts[next % minutesKept] = 0
      this.#others[next % minutesKept] = 0
    }
    this.#minute = Math.max(this.#minute, minute)
  }

  #beginStep(nowMs: number): void {
    const minute = toMinute(nowMs)
    this.#step = new Step(nowMs, minute % minutesKept, this.#peakOf(minute))
  }

  #record(): void {
    const { place, before, peak } = this.#step
    const { count, others } = toLarger(before, peak)
    this.#counts[place] = count
    this.#others[place] = others
  }
}

/** A few seconds, and what is taken in them. */
class Step {
  readonly #counts = new Map<string, number>()
  #count = 0
  #largest = 0
  #last = ""

  /** `before` is the peak of its minute without it, whose place this is. */
  constructor(
    readonly sinceMs: number,
    readonly place: number,
    readonly before: Peak,
  ) {}

  get peak(): Peak {
    return { count: this.#count, others: this.#count - this.#largest }
  }

  /** Returns how many the account has taken. */
  add(accountId: string, accountMax: number): number {
    const count = (this.#counts.get(accountId) ?? 0) + 1
    this.#counts.set(accountId, count)
    this.#last = accountId
    if (count > accountMax) return count
    this.#count++
    this.#largest = Math.max(this.#largest, count)
    return count
  }

  removeLast(accountMax: number): void {
    const count = this.#counts.get(this.#last) ?? 0
    if (count === 0) return
    this.#counts.set(this.#last, count - 1)
    if (count <= accountMax) this.#count--
  }
}

function toMinute(ms: number): number {
  return Math.floor(ms / minuteMs)
}

/** The minutes whose demand is a prediction for this one. */
function listFormer(minute: number): readonly number[] {
  const former = Array.from({ length: recentMinutes + 1 }, (_, ago) => minute - ago)
  for (let near = minute - around.before; near <= minute + around.ahead; near++) {
    for (let hours = 1; hours <= formerHours; hours++) former.push(near - hours * 60)
    for (let days = 1; days <= keptDays; days++) former.push(near - days * dayMinutes)
  }
  return former
}

function toLarger(left: Peak, right: Peak): Peak {
  return {
    count: Math.max(left.count, right.count),
    others: Math.max(left.others, right.others),
  }
}
