import {
  type putScheduleBody,
  type scheduleCatchUp,
  type scheduleOverlap,
  limits as wire,
} from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { Histogram } from "@hamlet/kit"
import type { ExpectedStart } from "@hamlet/sandbox"
import type { z } from "zod"
import type { Caller } from "../access/caller.ts"
import { assertMayChange, assertMayInspect, valNotFound } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { ValMention } from "../comments/comments.ts"
import { branchNotFound } from "../files/branches.ts"
import { fileNotFound } from "../files/change-tree.ts"
import type { FileType } from "../files/tree.ts"
import { mainBranch } from "../modules/import-address.ts"
import type { RunStatus } from "../runs/runs.ts"
import type { AssertVal, Vals } from "../vals/vals.ts"
import { describeTiming } from "./describe-timing.ts"
import { findNextTime, listNextTimes, readTiming, type Timing, type TimingInput } from "./timing.ts"

/** What happens at a due time while the previous run has not ended. */
export type Overlap = z.infer<typeof scheduleOverlap>

/** Whether one run makes up for missed due times. */
export type CatchUp = z.infer<typeof scheduleCatchUp>

/** The file of a schedule, on its branch. */
export interface ScheduledFile {
  readonly val: ValMention
  readonly branch: { readonly id: string; readonly name: string }
  readonly file: { readonly id: string; readonly path: string }
  /** The type of the file in the newest version. */
  readonly type: FileType
}

/** Which file of a val is meant; by default the entry file, on `main`. */
export interface SchedulePlace {
  readonly path?: string | undefined
  /** The name of the branch. */
  readonly branch?: string | undefined
}

/** What the owner sets. */
export interface ScheduleSettings {
  readonly timing: Timing
  readonly overlap: Overlap
  readonly catchUp: CatchUp
  readonly isPaused: boolean
}

/** A schedule as it is stored. */
export interface Schedule extends ScheduleSettings, ScheduledFile {
  /** Why the server paused it. Null if the owner did, or if it is not paused. */
  readonly pausedReason: string | null
  /** When the timing was set: the times of `every` are counted from then. */
  readonly anchorAt: number
  /** The next due time. Null while it is paused, or when there is none. */
  readonly nextAt: number | null
  /** When its last run was started, and that run. */
  readonly lastRunAt: number | null
  readonly lastRunId: string | null
  readonly lastStatus: RunStatus | null
  /** How many runs in a row have failed. */
  readonly failureCount: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** The fields of a schedule that a client sends. Absent fields keep their values. */
export type ScheduleInput = Readonly<z.output<typeof putScheduleBody>>

/** The fields that a change writes. */
export type ScheduleChange = ScheduleSettings &
  Pick<Schedule, "pausedReason" | "anchorAt" | "nextAt" | "failureCount">

/** What a change depends on, as it is inside the transaction. */
export interface ScheduleState extends Pick<ScheduledFile, "val"> {
  /** Undefined if there is no such branch, or no such file on it. */
  readonly branch: ScheduledFile["branch"] | undefined
  readonly file: (ScheduledFile["file"] & Pick<ScheduledFile, "type">) | undefined
  /** Undefined: the file has no schedule yet. */
  readonly current: Schedule | undefined
  /** The time of the database, which decides what is due. */
  readonly now: number
}

/** Stores schedules. */
export interface ScheduleStore {
  find(valId: string, place: SchedulePlace): Promise<Schedule | undefined>
  listOfOwner(ownerId: string, page: PageRequest): Promise<Page<Schedule>>
  /**
   * Creates or changes the schedule of a file. `change` is called inside the transaction, perhaps
   * more than once. Returns undefined when there is no such val, and "full" when its owner has
   * `activeMax` other schedules that are not paused.
   */
  put(
    valId: string,
    place: SchedulePlace,
    change: (state: ScheduleState) => ScheduleChange,
    activeMax: number,
  ): Promise<Schedule | "full" | undefined>
  /** Returns false when the file has no schedule, and undefined when there is no such val. */
  delete(
    valId: string,
    place: SchedulePlace,
    assert: AssertVal<ValMention>,
  ): Promise<boolean | undefined>
  /** What there is to do. */
  findWork(): Promise<ScheduleWork>
  /**
   * The starts of schedules that are due within this time, at most `countMax`. Those that have run less
   * than `idleMs` before their due time need no start: their process still exists.
   */
  findSoon(withinMs: number, idleMs: number, countMax: number): Promise<readonly ExpectedStart[]>
  /** Starts the runs of some schedules that are due. */
  fireDue(countMax: number): Promise<FiredBatch>
  /**
   * Lets schedules be due again that wait for a run that has ended. That happens when the run ends;
   * this is for a run that was deleted meanwhile.
   */
  releaseWaiting(): Promise<void>
  /**
   * Corrects some schedules whose next due time is later than their timing allows. Returns the last
   * that it looked at, after which to go on; undefined at the end.
   */
  correctTimes(after: string | undefined, countMax: number): Promise<string | undefined>
  /** Tells the owners of some schedules that they fail. Returns how many it told. */
  tellOwners(countMax: number): Promise<number>
}

/** What `fireDue` did. */
export interface FiredBatch {
  /** How late each run was started, in milliseconds. */
  readonly delaysMs: readonly number[]
  /** How many due times got no run: missed, or the previous run had not ended. */
  readonly dropped: number
  /** Why schedules were paused whose next time cannot be computed. */
  readonly errors: readonly unknown[]
}

/** What there is to do for schedules. */
export interface ScheduleWork {
  /** The time of the database. */
  readonly now: number
  /** How long until the next schedule is due; undefined if none is. */
  readonly nextInMs: number | undefined
  /** Whether an owner has yet to be told that a schedule fails. */
  readonly hasNotices: boolean
}

/** What this node has done, for the metrics. */
export interface ScheduleStats {
  /** How late runs were added to the queue. */
  readonly delays: Histogram
  /** Due times without a run. */
  readonly dropped: number
}

/** What the operator allows. */
export interface ScheduleLimits {
  /** Schedules of a user that are not paused. */
  readonly perUserMax: number
  /** The least number of seconds between two due times of a schedule. */
  readonly secondsMin: number
}

/** The rules of schedules. */
export type Schedules = ReturnType<typeof createSchedules>

/** Creates the rules of schedules. `work` starts due runs, and is woken when a schedule changes. */
export function createSchedules(
  store: ScheduleStore,
  vals: Vals,
  { perUserMax, secondsMin }: ScheduleLimits,
  work: { wake(): void; stats(): ScheduleStats },
  clock: Clock,
) {
  return {
    /** Creates or changes the schedule of a file of the caller. */
    async put(
      caller: Caller,
      valId: string,
      place: SchedulePlace,
      input: ScheduleInput,
    ): Promise<Schedule> {
      const change = (state: ScheduleState) => {
        assertMayChange(state.val, caller)
        assertInterval(state, place)
        return changeSchedule(state.current, input, secondsMin, state.now)
      }
      const put = await store.put(valId, place, change, perUserMax)
      if (put === undefined) throw valNotFound(valId)
      if (put === "full")
        throw new AppError(
          "too_many_schedules",
          `Cannot start a schedule: ${toFullReason(perUserMax)}`,
        )
      work.wake()
      return put
    },
    /** The schedule of a file of the caller. */
    async get(caller: Caller, valId: string, place: SchedulePlace): Promise<Schedule> {
      const val = await vals.get(caller, valId)
      assertMayInspect(val, caller, "show the schedule of")
      const schedule = await store.find(valId, place)
      if (!schedule) throw scheduleNotFound(val, place)
      return schedule
    },
    /** The schedules of the caller's vals. */
    list: ({ ownerId }: Caller, page: PageRequest) => store.listOfOwner(ownerId, page),
    /** Deletes the schedule of a file of the caller. Runs that have started go on. */
    async delete(caller: Caller, valId: string, place: SchedulePlace): Promise<void> {
      let name = valId
      const isDeleted = await store.delete(valId, place, (val) => {
        assertMayChange(val, caller)
        name = val.name
      })
      if (isDeleted === undefined) throw valNotFound(valId)
      if (!isDeleted) throw scheduleNotFound({ name }, place)
    },
    /** What this node has done, for the metrics. */
    stats: () => work.stats(),
    /** A timing in words, and when it would be due. */
    preview(input: TimingInput): {
      readonly description: string
      readonly nextAt: readonly number[]
    } {
      const now = clock.now()
      const timing = readTiming(input, secondsMin, now)
      return {
        description: describeTiming(timing),
        nextAt: listNextTimes(timing, now, now, wire.scheduleTimesMax),
      }
    },
  }
}

/** The due times of a schedule, at most `countMax`. */
export function listDueTimes(schedule: Schedule, countMax: number): readonly number[] {
  const { timing, anchorAt, nextAt } = schedule
  if (nextAt === null || findPause(schedule) !== undefined) return []
  try {
    return [nextAt, ...listNextTimes(timing, anchorAt, nextAt, countMax - 1)]
  } catch {
    // A time zone that this version does not know: the schedule is paused when it is due.
    return [nextAt]
  }
}

/** Whether and why a schedule starts no runs; the reason is null if its owner paused it. */
export function findPause({
  isPaused,
  pausedReason,
  val,
  file,
  type,
}: Schedule): { readonly reason: string | null } | undefined {
  if (isPaused) return { reason: pausedReason }
  if (type === "interval") return undefined
  const noun = file.id === val.id ? "val" : "file"
  return {
    reason: `The ${noun} is of type ${toShown(type)}; only a ${noun} of type interval has a schedule`,
  }
}

/** A val whose code is a plain file is shown as a script. */
function toShown(type: FileType): FileType {
  return type === "file" ? "script" : type
}

/** The timing of a schedule that a save creates. */
const firstHours = 1

/**
 * The first settings of the schedule of a file that becomes one of type `interval`: hourly, or as often
 * as the operator allows. It is paused when its owner has enough others, or without `activeCount`.
 * `isDueNow`: it runs once at once.
 */
export function toFirstSettings(
  { perUserMax, secondsMin }: ScheduleLimits,
  activeCount: number | undefined,
  now: number,
  isDueNow = false,
): ScheduleChange {
  const every = secondsMin > firstHours * 3_600 ? `${secondsMin}s` : `${firstHours}h`
  const isFull = activeCount !== undefined && activeCount >= perUserMax
  const isPaused = activeCount === undefined || isFull
  const first = changeSchedule(undefined, { every, isPaused }, secondsMin, now)
  return {
    ...first,
    nextAt: isDueNow && !isPaused ? now : first.nextAt,
    pausedReason: isFull ? `It was not started: ${toFullReason(perUserMax)}` : null,
  }
}

function toFullReason(perUserMax: number): string {
  return `you have ${perUserMax} schedules that are not paused, which is the limit`
}

/** The new state of a schedule. It starts anew when its timing changes or its pause ends. */
export function changeSchedule(
  current: Schedule | undefined,
  input: ScheduleInput,
  secondsMin: number,
  now: number,
): ScheduleChange {
  const { cron, every, timeZone } = input
  const isTimed = cron !== undefined || every !== undefined || timeZone !== undefined
  const timing =
    current && !isTimed
      ? current.timing
      : readTiming(toTimingInput(current, input), secondsMin, now)
  const isPaused = input.isPaused ?? current?.isPaused ?? false
  const settings = {
    timing,
    isPaused,
    overlap: input.overlap ?? current?.overlap ?? "skip",
    catchUp: input.catchUp ?? current?.catchUp ?? "none",
  }
  const isSame = current !== undefined && isSameTiming(current.timing, timing)
  if (isPaused) {
    const { pausedReason = null, failureCount = 0, anchorAt = now } = current ?? {}
    return { ...settings, pausedReason, failureCount, anchorAt, nextAt: null }
  }
  if (isSame && !current.isPaused) {
    const { anchorAt, nextAt, failureCount } = current
    // The owner says that it shall run, and has seen that it fails.
    const failures = input.isPaused === false ? 0 : failureCount
    return { ...settings, anchorAt, nextAt, failureCount: failures, pausedReason: null }
  }
  const nextAt = findNextTime(timing, now, now)
  return { ...settings, anchorAt: now, nextAt, failureCount: 0, pausedReason: null }
}

/** An expression replaces the other kind; a time zone alone changes the zone of the expression. */
function toTimingInput(current: Schedule | undefined, input: ScheduleInput): TimingInput {
  const before = current?.timing
  const { cron, every, timeZone = before?.timeZone } = input
  if (cron !== undefined || every !== undefined) return { cron, every, timeZone }
  return { cron: before?.cron ?? undefined, every: before?.every ?? undefined, timeZone }
}

function isSameTiming(left: Timing, right: Timing): boolean {
  return left.cron === right.cron && left.every === right.every && left.timeZone === right.timeZone
}

/** Throws unless the file exists and is of type `interval`. */
function assertInterval({ val, branch, file }: ScheduleState, place: SchedulePlace): void {
  if (!branch) throw branchNotFound(place.branch ?? mainBranch)
  if (file?.type === "interval") return
  if (place.path !== undefined && !file) throw fileNotFound(place.path)
  const isVal = place.path === undefined
  const name = isVal ? `val "${val.name}"` : `"${place.path}"`
  throw new AppError(
    "not_interval",
    `Cannot schedule ${name}: it is of type ${toShown(file?.type ?? "script")}, and only a ${isVal ? "val" : "file"} of type interval has a schedule`,
  )
}

function scheduleNotFound(val: Pick<ValMention, "name">, place: SchedulePlace): AppError {
  const where = [
    ...(place.path === undefined ? [] : [` at "${place.path}"`]),
    ...(place.branch === undefined ? [] : [` on branch "${place.branch}"`]),
  ].join("")
  return new AppError("schedule_not_found", `Cannot find a schedule of val "${val.name}"${where}`)
}
