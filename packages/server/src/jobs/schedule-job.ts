import type { ScheduleStats, ScheduleStore } from "../domain/schedules/schedules.ts"
import { Histogram } from "../shared/histogram.ts"

export interface ScheduleJobDeps {
  readonly schedules: Pick<ScheduleStore, "findWork" | "fireDue" | "releaseWaiting" | "tellOwners">
  /** Starts the runs that this job adds to the queue. */
  readonly queue: { wake(): void }
  readonly limits?: Partial<ScheduleJobLimits>
  onError(error: unknown): void
}

export interface ScheduleJobLimits {
  /** Schedules of one transaction. */
  readonly batchMax: number
  /**
   * How often the job looks for schedules that are due, at the latest: another node may have died, or
   * have changed a schedule.
   */
  readonly pollMs: number
  /** How soon it looks again when another node has locked what is due. */
  readonly lockedMs: number
  /** How often it looks for schedules that wait for a run that is gone. */
  readonly releaseMs: number
  /** Owners that are told at a time that their schedules fail. */
  readonly noticesMax: number
}

const defaults: ScheduleJobLimits = {
  batchMax: 250,
  pollMs: 1_000,
  lockedMs: 20,
  releaseMs: 30_000,
  noticesMax: 100,
}

/**
 * Starts the runs of schedules when they are due. Every node does so: whichever comes first starts
 * the run, and another one takes over when it dies. It sleeps until the next due time by the
 * database's clock, so that wrong clocks of nodes do not matter.
 */
export class ScheduleJob {
  readonly #deps: ScheduleJobDeps
  readonly #limits: ScheduleJobLimits
  readonly #delays = new Histogram()
  #dropped = 0
  #timer: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #state: "new" | "asleep" | "awake" | "woken" | "stopped" = "new"
  #releasedAt = Number.NEGATIVE_INFINITY

  constructor(deps: ScheduleJobDeps) {
    this.#deps = deps
    this.#limits = { ...defaults, ...deps.limits }
  }

  start(): void {
    this.#state = "asleep"
    this.wake()
  }

  /** Looks for due schedules now, for example because one has changed. */
  wake(): void {
    if (this.#state === "awake") this.#state = "woken"
    if (this.#state !== "asleep") return
    clearTimeout(this.#timer)
    this.#state = "awake"
    this.#looking = this.#look()
  }

  async stop(): Promise<void> {
    this.#state = "stopped"
    clearTimeout(this.#timer)
    await this.#looking
  }

  stats(): ScheduleStats {
    return { delays: this.#delays, dropped: this.#dropped }
  }

  async #look(): Promise<void> {
    let sleepMs = this.#limits.pollMs
    try {
      await this.#release()
      sleepMs = await this.#work()
    } catch (error) {
      this.#deps.onError(error)
    }
    if (this.#state === "stopped") return
    const isWoken = this.#state === "woken"
    this.#state = "asleep"
    this.#timer = setTimeout(() => this.wake(), isWoken ? 0 : sleepMs)
  }

  /** Does what there is to do. Returns how long nothing will be due. */
  async #work(): Promise<number> {
    const { batchMax, pollMs, lockedMs, noticesMax } = this.#limits
    const { schedules, queue } = this.#deps
    for (;;) {
      const { nextInMs, hasNotices } = await schedules.findWork()
      if (hasNotices) await schedules.tellOwners(noticesMax)
      if (this.#state === "stopped") return 0
      if (nextInMs === undefined || nextInMs > 0) return Math.min(nextInMs ?? pollMs, pollMs)
      const { delaysMs, dropped } = await schedules.fireDue(batchMax)
      for (const ms of delaysMs) this.#delays.add(ms)
      this.#dropped += dropped
      if (delaysMs.length > 0) queue.wake()
      // What is due and was not found is locked, because another node is just starting it.
      else if (dropped === 0) return lockedMs
    }
  }

  async #release(): Promise<void> {
    const now = performance.now()
    if (now - this.#releasedAt < this.#limits.releaseMs) return
    this.#releasedAt = now
    await this.#deps.schedules.releaseWaiting()
  }
}
