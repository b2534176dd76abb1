import { OwnerQueue, type OwnerQueueLimits, type Waiting } from "./owner-queue.ts"
import { prepareWorkers, type WorkerLaunch, type WorkerOptions } from "./worker-launch.ts"
import {
  type WorkerFailure,
  WorkerProcess,
  type WorkerProcessLimits,
  type WorkerResponse,
} from "./worker-process.ts"

/** What a pool and its processes may use. */
export interface WorkerProcessPoolLimits extends WorkerProcessLimits, OwnerQueueLimits {
  readonly processesMax: number
  /**
   * Whether a process is sent the owner's next request while it works on one. Only as long as
   * another process could be started: then no other owner waits for this one.
   */
  readonly sendsAhead: boolean
  /** How long a process is kept without work. */
  readonly idleMsMax: number
}

/** What the processes of a pool run, and how. */
export interface WorkerProcessPoolOptions extends WorkerOptions {
  readonly limits: WorkerProcessPoolLimits
  /** The settings of a process. `folder` is the path of the folder as the process sees it. */
  toSettings?(folder: string | undefined): object
  /** Whether running a request twice does no harm. */
  readonly isRepeatable: boolean
}

/** How a request ended. `overloaded`: it could not wait, or not for long enough. */
export type WorkerOutcome =
  | WorkerResponse
  | WorkerFailure
  | { readonly kind: "overloaded" }
  | { readonly kind: "stopped" }

interface Job extends Waiting {
  readonly settled: PromiseWithResolvers<WorkerOutcome>
}

/** The owner of requests that belong to no user. They may use all processes. */
export const noOwner = ""

/**
 * Worker processes that the requests of all owners share. A process starts when there is work, and
 * ends when it has been idle for a while.
 *
 * ```
 *            run()           a process is free         it responds            idleMsMax
 *   request ──────▶ waiting ──────────────────▶ busy ──────────────▶ idle ─────────────▶ ended
 *                                                │  a limit is exceeded, or it crashes     ▲
 *                                                └─────────────────────────────────────────┘
 * ```
 * An owner has at most one process at a time, and owners take turns. A request that takes all its
 * time, or a thousand requests at once, delay only requests of the same owner as long as one
 * process is free.
 */
export class WorkerProcessPool {
  readonly #options: WorkerProcessPoolOptions
  readonly #limits: WorkerProcessPoolLimits
  readonly #queue: OwnerQueue<Job>
  /**
   * With the owner whose request each runs. A process that ends stays here until it is gone, so
   * that there are never more than `processesMax`.
   */
  readonly #busy = new Map<WorkerProcess, string | undefined>()
  /** With the time at which each became idle, the last one last. */
  readonly #idle = new Map<WorkerProcess, number>()
  #preparing: Promise<WorkerLaunch> | undefined
  /** Set once the first request has found out how processes start on this machine. */
  #launch: WorkerLaunch | undefined
  #sweepTimer: Timer | undefined
  #isStopped = false

  constructor(options: WorkerProcessPoolOptions) {
    this.#options = options
    this.#limits = options.limits
    this.#queue = new OwnerQueue(options.limits, ({ settled }) =>
      settled.resolve({ kind: "overloaded" }),
    )
  }

  get size(): number {
    return this.#busy.size + this.#idle.size
  }

  get pids(): readonly number[] {
    return [...this.#busy.keys(), ...this.#idle.keys()].map(({ pid }) => pid)
  }

  /** Rejects when processes cannot be started on this machine. */
  async run(owner: string, frame: Uint8Array): Promise<WorkerOutcome> {
    if (!this.#launch) await this.#prepare()
    if (this.#isStopped) return { kind: "stopped" }
    const job: Job = { owner, frame, settled: Promise.withResolvers() }
    if (!this.#queue.push(job)) return { kind: "overloaded" }
    this.#startJobs()
    return job.settled.promise
  }

  /** Ends every process. Requests that wait end with `stopped`, those that run as they can. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#sweepTimer)
    for (const { settled } of this.#queue.clear()) settled.resolve({ kind: "stopped" })
    const processes = [...this.#busy.keys(), ...this.#idle.keys()]
    await Promise.all(processes.map((process) => process.stop()))
    this.#idle.clear()
  }

  async #prepare(): Promise<void> {
    this.#preparing ??= prepareWorkers(this.#options)
    try {
      this.#launch = await this.#preparing
    } catch (error) {
      // The next request tries again.
      this.#preparing = undefined
      throw error
    }
  }

  #startJobs(): void {
    while (this.#busy.size < this.#limits.processesMax && !this.#isStopped) {
      const job = this.#queue.shift((owner) => this.#mayStart(owner))
      if (!job) {
        this.#sendAhead()
        return
      }
      const process = this.#takeProcess(job.owner)
      if (process instanceof WorkerProcess) void this.#work(process, job)
      else job.settled.resolve(process)
    }
  }

  /** All requests that wait are of owners that have a process. */
  #sendAhead(): void {
    if (!this.#limits.sendsAhead) return
    for (const [process, busyWith] of this.#busy) {
      if (busyWith === undefined || busyWith === noOwner || !process.canQueue) continue
      const job = this.#queue.shift((owner) => owner === busyWith)
      if (job) void this.#work(process, job)
    }
  }

  #mayStart(owner: string): boolean {
    return owner === noOwner || !this.#busy.values().some((running) => running === owner)
  }

  async #work(process: WorkerProcess, job: Job): Promise<void> {
    this.#busy.set(process, job.owner)
    const outcome = await process.run(job.owner, job.frame)
    if (this.#canRetry(process, outcome)) this.#queue.unshift(job)
    else job.settled.resolve(outcome)
    if (process.isAtWork) return this.#startJobs()
    // The owner's next request waits until it is gone: it may still hold a lock.
    if (!process.isUsable) await process.stop()
    this.#busy.delete(process)
    if (process.isUsable) this.#idle.set(process, performance.now())
    this.#startJobs()
  }

  #canRetry(process: WorkerProcess, outcome: WorkerResponse | WorkerFailure): boolean {
    if (outcome.kind === "responded" || this.#isStopped) return false
    if (outcome.isAhead) return true
    // A process that has worked before may have died of something else. A process that dies of its
    // first request died of it.
    return outcome.kind === "crashed" && this.#options.isRepeatable && process.requests > 1
  }

  /**
   * An idle process that has the owner's state in memory; else the one that worked last, so that
   * the others stay idle and end; else a new one.
   */
  #takeProcess(owner: string): WorkerProcess | WorkerFailure {
    let found: WorkerProcess | undefined
    for (const process of this.#idle.keys()) {
      // It has ended by itself.
      if (!process.isUsable) this.#idle.delete(process)
      else if (!found?.hasCached(owner)) found = process
    }
    if (!found) return this.#startProcess()
    this.#idle.delete(found)
    return found
  }

  #startProcess(): WorkerProcess | WorkerFailure {
    try {
      if (!this.#launch) throw new Error("workers are not prepared")
      const { isBoxed, folder } = this.#launch
      const serverPid = isBoxed ? undefined : process.pid
      const settings = JSON.stringify({ serverPid, ...this.#options.toSettings?.(folder) })
      this.#sweepTimer ??= setInterval(() => this.#endIdle(), this.#limits.idleMsMax / 2).unref()
      return new WorkerProcess(this.#launch, [settings], this.#limits)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return { kind: "crashed", isStarted: false, message }
    }
  }

  #endIdle(): void {
    for (const [process, sinceMs] of this.#idle) {
      if (performance.now() - sinceMs < this.#limits.idleMsMax) continue
      this.#idle.delete(process)
      this.#busy.set(process, undefined)
      void process.stop().then(() => {
        this.#busy.delete(process)
        this.#startJobs()
      })
    }
    if (this.size > 0) return
    clearInterval(this.#sweepTimer)
    this.#sweepTimer = undefined
  }
}
