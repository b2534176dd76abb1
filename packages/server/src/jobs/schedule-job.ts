import { Histogram, Loop } from "@hamlet/kit"
import type { Runner } from "@hamlet/sandbox"
import type { ScheduleStats, ScheduleStore } from "../domain/schedules/schedules.ts"

/** What the job does with schedules. */
type DueSchedules = Pick<
  ScheduleStore,
  "findWork" | "findSoon" | "fireDue" | "releaseWaiting" | "correctTimes" | "tellOwners"
>

const defaults = {
  /** Schedules of one transaction. */
  batchMax: 250,
  /**
   * How often the job looks for schedules that are due, at the latest: another node may have died, or
   * have changed a schedule.
   */
  pollMs: 1_000,
  /** How soon it looks again when another node has locked what is due. */
  lockedMs: 20,
  /** How often it looks for schedules that wait for a run that is gone. */
  releaseMs: 30_000,
  /** How often it looks for due times that are too late; after such a step back of the clock at once. */
  correctMs: 600_000,
  clockStepMs: 5_000,
  /** Schedules that are searched for such times before due ones are fired again. */
  correctMax: 500,
  /** How often the runner hears which schedules are due soon, how soon, and at most how many. */
  expectMs: 10_000,
  soonMs: 60_000,
  soonMax: 1_000,
  /** How long the process of a val exists after its last run. */
  idleMs: 65_000,
  /** Owners that are told at a time that their schedules fail. */
  noticesMax: 100,
}

export type ScheduleJobLimits = Readonly<typeof defaults>

/**
 * Starts the runs of schedules when they are due. Every node does so: whichever comes first starts
 * the run, and another one takes over when it dies. It sleeps until the next due time by the
 * database's clock, so that wrong clocks of nodes do not matter.
 */
export class ScheduleJob {
  readonly #schedules: DueSchedules
  readonly #queue: { wake(): void }
  readonly #runner: Pick<Runner, "expect">
  readonly #onError: (error: unknown, step?: string) => void
  readonly #limits: ScheduleJobLimits
  readonly #delays = new Histogram()
  readonly #loop: Loop
  #dropped = 0
  #releasedAt = Number.NEGATIVE_INFINITY
  #expectedAt = Number.NEGATIVE_INFINITY
  #correctedAt = Number.NEGATIVE_INFINITY
  /** A round of corrections, and the last schedule that it has looked at; none when it begins. */
  #correction: { readonly after: string | undefined } | undefined
  /** By how much the clock of the database is ahead of the time since this process has started. */
  #clockLead = Number.NEGATIVE_INFINITY

  /** `queue` starts the runs that this job adds to it; `runner` hears of them before. */
  constructor(
    schedules: DueSchedules,
    queue: { wake(): void },
    runner: Pick<Runner, "expect">,
    onError: (error: unknown, step?: string) => void,
    limits: Partial<ScheduleJobLimits> = {},
  ) {
    this.#schedules = schedules
    this.#queue = queue
    this.#runner = runner
    this.#onError = onError
    this.#limits = { ...defaults, ...limits }
    this.#loop = new Loop({ round: () => this.#look(), pollMs: this.#limits.pollMs, onError })
  }

  start(): void {
    this.#loop.start()
  }

  /** Looks for due schedules now, for example because one has changed. */
  wake(): void {
    this.#loop.wake()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  stats(): ScheduleStats {
    return { delays: this.#delays, dropped: this.#dropped }
  }

  async #look(): Promise<number> {
    await this.#loop.attempt("release waiting schedules", () => this.#release())
    const sleepMs = await this.#loop.attempt("fire due schedules", () => this.#work())
    await this.#loop.attempt("expect schedules", () => this.#expect())
    await this.#loop.attempt("correct due times", () => this.#correct())
    return sleepMs ?? this.#limits.pollMs
  }

  /** Fires due schedules and tells owners of failing ones. Returns how long nothing will be due. */
  async #work(): Promise<number> {
    const { batchMax, pollMs, lockedMs, noticesMax } = this.#limits
    const schedules = this.#schedules
    for (;;) {
      const { now, nextInMs, hasNotices } = await schedules.findWork()
      this.#noteClock(now)
      if (hasNotices)
        await this.#loop.attempt("tell owners of failing schedules", () =>
          schedules.tellOwners(noticesMax),
        )
      if (this.#loop.isStopped) return 0
      if (nextInMs === undefined || nextInMs > 0) return nextInMs ?? pollMs
      const { delaysMs, dropped, errors } = await schedules.fireDue(batchMax)
      for (const ms of delaysMs) this.#delays.add(ms)
      for (const error of errors) this.#onError(error, "fire a schedule")
      this.#dropped += dropped
      if (delaysMs.length > 0) this.#queue.wake()
      // Rows are due but none was returned: another node has locked them.
      else if (dropped === 0) return lockedMs
    }
  }

  /** Tells the runner how many programs will be started soon, so that it has processes for them. */
  async #expect(): Promise<void> {
    const { expectMs, soonMs, idleMs, soonMax } = this.#limits
    const now = performance.now()
    if (!this.#runner.expect || now - this.#expectedAt < expectMs) return
    this.#expectedAt = now
    this.#runner.expect(await this.#schedules.findSoon(soonMs, idleMs, soonMax))
  }

  /** When the clock was set back, due times that were computed before may be too late. */
  #noteClock(now: number): void {
    const lead = now - performance.now()
    if (lead < this.#clockLead - this.#limits.clockStepMs)
      this.#correctedAt = Number.NEGATIVE_INFINITY
    this.#clockLead = lead
  }

  /** Looks at some schedules at a time, so that those that are due need not wait. */
  async #correct(): Promise<void> {
    const { correctMs, correctMax } = this.#limits
    const now = performance.now()
    if (now - this.#correctedAt >= correctMs) {
      this.#correctedAt = now
      this.#correction = { after: undefined }
    }
    if (!this.#correction) return
    const after = await this.#schedules.correctTimes(this.#correction.after, correctMax)
    this.#correction = after === undefined ? undefined : { after }
  }

  async #release(): Promise<void> {
    const now = performance.now()
    if (now - this.#releasedAt < this.#limits.releaseMs) return
    this.#releasedAt = now
    await this.#schedules.releaseWaiting()
  }
}
